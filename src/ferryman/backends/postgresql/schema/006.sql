-- The limits of ferryman.message, sentence by sentence: what it refuses could be stored here and then
-- be read by nobody. Only replaced, so that workers of the version before go on.
CREATE OR REPLACE FUNCTION check_message(
    queue text,
    task text,
    body text,
    id text,
    priority integer,
    delay double precision,
    expires double precision,
    key text,
    max_attempts integer,
    version integer,
    timeout double precision,
    correlation_id text,
    meta jsonb,
    ready_at double precision,
    backoff text
) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF queue IS NULL OR task IS NULL OR id IS NULL OR body IS NULL OR delay IS NULL THEN
        RAISE null_value_not_allowed USING MESSAGE = 'queue, task, body, id and delay are needed';
    END IF;
    PERFORM
        {schema}.check_name('queue', queue, 200),
        {schema}.check_name('task', task, 200),
        {schema}.check_name('id', id, 512),
        {schema}.check_name('key', key, 512),
        {schema}.check_name('correlation_id', correlation_id, 512),
        {schema}.check_number('version', version, 1, 1000000000),
        {schema}.check_number('priority', priority, -1000000000, 1000000000),
        {schema}.check_number('max_attempts', max_attempts, 1, 1000000),
        {schema}.check_seconds('delay', delay),
        {schema}.check_body(body);
    IF ready_at IS NOT NULL THEN
        IF NOT (ready_at >= 0 AND ready_at < 1e11) THEN
            RAISE check_violation USING
                MESSAGE = 'ready_at: is not a moment: give seconds since the epoch';
        END IF;
        IF delay > 0 THEN
            RAISE check_violation USING
                MESSAGE = 'delay: excludes ready_at: give one of them';
        END IF;
    END IF;
    IF expires IS NOT NULL THEN
        PERFORM {schema}.check_seconds('expires', expires, true);
    END IF;
    IF timeout IS NOT NULL THEN
        PERFORM {schema}.check_seconds('timeout', timeout, true);
    END IF;
    IF backoff IS NOT NULL THEN
        PERFORM {schema}.check_backoff(backoff);
    END IF;
    IF meta IS NOT NULL THEN
        PERFORM {schema}.check_meta(meta);
    END IF;
END
$$;

CREATE FUNCTION check_name(name text, value text, longest integer) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    -- What Python strips besides control characters.
    blank CONSTANT text := E' \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008'
        '\u2009\u200a\u2028\u2029\u202f\u205f\u3000';
BEGIN
    IF btrim(value, blank) = '' THEN
        RAISE check_violation USING MESSAGE = format('%s: must not be empty', name);
    END IF;
    IF length(value) > longest THEN
        RAISE check_violation USING MESSAGE = format(
            '%s: is %s characters long, the limit is %s', name, length(value), longest
        );
    END IF;
    IF value ~ '[\x01-\x1f\x7f-\x9f]' THEN
        RAISE check_violation USING MESSAGE = format('%s: holds a control character', name);
    END IF;
END
$$;

CREATE FUNCTION check_number(name text, value integer, low integer, high integer) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF value IS NULL OR value NOT BETWEEN low AND high THEN
        RAISE check_violation USING MESSAGE = format(
            '%s: must be from %s to %s, got %s', name, low, high, coalesce(value::text, 'null')
        );
    END IF;
END
$$;

CREATE FUNCTION check_seconds(
    name text,
    value double precision,
    above_zero boolean DEFAULT false
) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    -- NaN is above everything here.
    IF value > 316224000 THEN
        RAISE check_violation USING MESSAGE = format('%s: is over ten years', name);
    END IF;
    IF value < 0 OR (above_zero AND value = 0) THEN
        RAISE check_violation USING MESSAGE = format(
            '%s: must be %s seconds, got %s',
            name, CASE WHEN above_zero THEN 'above zero' ELSE 'zero or more' END, value
        );
    END IF;
END
$$;

-- base, factor, cap and jitter.
CREATE FUNCTION check_backoff(backoff text) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    numbers CONSTANT double precision[] := string_to_array(backoff, ',');
BEGIN
    IF NOT (
        cardinality(numbers) = 4
        AND numbers[1] BETWEEN 0 AND 316224000
        AND numbers[2] BETWEEN 1 AND 100
        AND numbers[3] BETWEEN 0 AND 316224000
        AND numbers[4] BETWEEN 0 AND 1
    ) THEN
        RAISE check_violation USING
            MESSAGE = format('backoff: %L is not the text of a Backoff', backoff);
    END IF;
END
$$;

CREATE FUNCTION check_meta(meta jsonb) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    entries integer;
    name text;
    value jsonb;
BEGIN
    IF jsonb_typeof(meta) <> 'object' THEN
        RAISE check_violation USING
            MESSAGE = format('meta: must be an object of strings, not %s', jsonb_typeof(meta));
    END IF;
    SELECT count(*) INTO entries FROM jsonb_object_keys(meta);
    IF entries > 16 THEN
        RAISE check_violation USING
            MESSAGE = format('meta: has %s entries, the limit is 16', entries);
    END IF;
    FOR name, value IN SELECT * FROM jsonb_each(meta) LOOP
        PERFORM {schema}.check_name('meta', name, 64);
        IF jsonb_typeof(value) <> 'string' THEN
            RAISE check_violation USING MESSAGE = format(
                'meta.%s: must be a string, not %s', name, jsonb_typeof(value)
            );
        END IF;
        PERFORM {schema}.check_name('meta.' || name, value #>> '{}', 512);
    END LOOP;
END
$$;

-- Only a text that may be nested too deep, or hold too large a number or what is no text, is looked at
-- closely: to make jsonb of it takes long. Strings may hold what counts here, too.
CREATE FUNCTION check_body(body text) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    -- In bytes: to count the characters of a long text takes longer than to search it.
    size CONSTANT integer := octet_length(body);
    deep CONSTANT boolean := size > 128 AND 64
        < 2 * size - octet_length(replace(body, '[', '')) - octet_length(replace(body, '{', ''));
    huge CONSTANT boolean := body
        ~ '(?:^|[[,:\s])-?[0-9]+(?:[.][0-9]+)?[eE]\+?[0-9]{3}|[0-9]{200}';
    paired CONSTANT boolean := strpos(body, '\ud') > 0 OR strpos(body, '\uD') > 0;
    document jsonb;
BEGIN
    IF size > 8388608 THEN
        RAISE check_violation USING MESSAGE = format(
            'body: is %s bytes of JSON, the limit is 8388608: '
            'store it elsewhere and push a reference', size
        );
    END IF;
    IF NOT (deep OR huge OR paired) THEN
        RETURN;
    END IF;
    BEGIN
        document := replace(body, '\u0000', '\u0001')::jsonb;
    EXCEPTION
        WHEN invalid_text_representation THEN
            RAISE check_violation USING
                MESSAGE = 'body: holds a lone surrogate, which is not text';
        WHEN numeric_value_out_of_range THEN
            RAISE check_violation USING MESSAGE = 'body: holds a number over 1.8e308';
        WHEN statement_too_complex THEN
            RAISE check_violation USING MESSAGE = 'body: is nested over 64 deep';
    END;
    IF deep AND jsonb_path_exists(
        document, 'strict $.**{64} ? (@.type() == "array" || @.type() == "object")'
    ) THEN
        RAISE check_violation USING MESSAGE = 'body: is nested over 64 deep';
    END IF;
    -- From here on Python reads infinity, which is not JSON.
    IF huge AND jsonb_path_exists(
        document, 'strict $.** ? (@ >= 1.797693134862315808e308 || @ <= -1.797693134862315808e308)'
    ) THEN
        RAISE check_violation USING MESSAGE = 'body: holds a number over 1.8e308';
    END IF;
END
$$;

-- What views show of documents and texts: what does not fit its type is null, and never an error, or
-- one job would make a whole table unreadable. They call nothing of this schema: whoever may read a
-- view need not have the right to use it.

-- A document is JSON, but with NUL or a lone surrogate anywhere in it the server refuses to look
-- inside. So those are masked meanwhile, by a character that is not in it.
CREATE FUNCTION json_at(document text, place text[]) RETURNS json
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    mask integer := 57344;
    masked text;
BEGIN
    IF strpos(document, '\u') = 0 THEN
        RETURN document::json #> place;
    END IF;
    WHILE strpos(document, chr(mask)) > 0 LOOP
        mask := mask + 1;
    END LOOP;
    -- A backslash that is escaped itself begins nothing.
    masked := regexp_replace(
        replace(document, '\\', E'\x01'),
        '\\u(?=0000|d[89ab]..(?!\\ud[c-f]))|(?<!\\ud[89ab]..)\\u(?=d[c-f])',
        chr(mask),
        'gi'
    );
    RETURN replace(
        (replace(masked, E'\x01', '\\')::json #> place)::text, chr(mask), '\u'
    )::json;
END
$$;

CREATE FUNCTION text_of(value json) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    kind CONSTANT text := json_typeof(value);
BEGIN
    IF kind = 'null' THEN
        RETURN NULL;
    END IF;
    IF kind <> 'string' THEN
        RETURN value::text;
    END IF;
    IF strpos(value::text, '\u') > 0 AND replace(value::text, '\\', '')
        ~* '\\u(0000|d[89ab]..(?!\\ud[c-f]))|(?<!\\ud[89ab]..)\\ud[c-f]' THEN
        RETURN NULL;
    END IF;
    RETURN value #>> '{}';
END
$$;

CREATE FUNCTION as_integer(value text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    IF value !~ '^(0|-?[1-9][0-9]{0,18})$' THEN
        RETURN NULL;
    END IF;
    IF value::numeric NOT BETWEEN -9223372036854775808 AND 9223372036854775807 THEN
        RETURN NULL;
    END IF;
    RETURN value::bigint;
END
$$;

CREATE FUNCTION as_real(value text) RETURNS double precision
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    size numeric;
BEGIN
    IF length(value) > 400
        OR value !~ '^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]{1,3})?$' THEN
        RETURN NULL;
    END IF;
    size := abs(value::numeric);
    IF size >= 1.797693134862315808e308 THEN
        RETURN NULL;
    END IF;
    -- The server refuses what is too small for anything but zero.
    RETURN CASE WHEN size < 2.48e-324 THEN 0 ELSE value::double precision END;
END
$$;

CREATE FUNCTION as_boolean(value text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    RETURN CASE value WHEN 'true' THEN true WHEN 'false' THEN false END;
END
$$;

-- ISO 8601, a date or a date and time; in UTC where it names no offset.
CREATE FUNCTION as_time(value text) RETURNS timestamptz
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    parts CONSTANT text[] := regexp_match(
        value,
        '^((?!0000)[0-9]{4}-(?:0[1-9]|1[0-2]))-(0[1-9]|[12][0-9]|3[01])'
        '(?:[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{1,9})?)?'
        '(Z|[-+](?:0[0-9]|1[0-4]):[0-5][0-9])?)?$'
    );
    moment timestamptz;
BEGIN
    IF parts IS NULL THEN
        RETURN NULL;
    END IF;
    IF parts[2]::integer
        > extract(day FROM (parts[1] || '-01')::date + interval '1 month - 1 day') THEN
        RETURN NULL;
    END IF;
    moment := CASE WHEN parts[3] IS NULL THEN value || ' UTC' ELSE value END;
    -- In any zone the year must have four digits: clients know no others.
    RETURN CASE
        WHEN moment >= '0001-01-02 UTC' AND moment < '9999-12-31 UTC' THEN moment
    END;
END
$$;
