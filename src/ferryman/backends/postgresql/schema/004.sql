-- For producers in other languages:
--     SELECT * FROM ferryman.push('mail', 'send', '{"to": "ana"}', priority => 10);
-- The same id with the same work, or a key that an unfinished job of the queue holds, answers with
-- that job; the id of other work is a unique_violation.
CREATE FUNCTION push(
    queue text,
    task text,
    body json DEFAULT 'null',
    id text DEFAULT gen_random_uuid()::text,
    priority integer DEFAULT 0,
    delay double precision DEFAULT 0,
    expires double precision DEFAULT NULL,
    key text DEFAULT NULL,
    max_attempts integer DEFAULT 5,
    version integer DEFAULT 1,
    timeout double precision DEFAULT NULL,
    correlation_id text DEFAULT NULL,
    meta jsonb DEFAULT NULL,
    ready_at double precision DEFAULT NULL,
    backoff text DEFAULT NULL,
    OUT job_id text,
    OUT created boolean
)
LANGUAGE plpgsql
SET search_path = {schema}, pg_temp
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    work text := btrim(push.body::text, E' \t\r\n');
    known record;
BEGIN
    PERFORM check_message(
        push.queue, push.task, work, push.id, push.priority, push.delay, push.expires, push.key,
        push.max_attempts, push.version, push.timeout, push.correlation_id, push.meta,
        push.ready_at, push.backoff
    );
    IF push.key IS NOT NULL THEN
        IF current_setting('transaction_isolation') <> 'read committed' THEN
            RAISE feature_not_supported USING MESSAGE = 'a key needs READ COMMITTED';
        END IF;
        PERFORM pg_advisory_xact_lock(
            hashtextextended(push.queue || E'\n' || push.key, {key_lock})
        );
    END IF;
    LOOP
        SELECT found.* INTO known
        FROM (
            SELECT id, queue, task, version, body FROM jobs WHERE id = push.id
            UNION ALL
            SELECT id, queue, task, version, body FROM history WHERE id = push.id
        ) AS found;
        IF FOUND THEN
            IF (known.queue, known.task, known.version) = (push.queue, push.task, push.version)
                AND same_json(known.body, work) THEN
                job_id := push.id;
                created := false;
                RETURN;
            END IF;
            RAISE unique_violation USING
                MESSAGE = format('job %L is other work: push with another id', push.id);
        END IF;
        SELECT id INTO job_id
        FROM jobs
        WHERE key = push.key AND queue = push.queue
        ORDER BY seq DESC
        LIMIT 1;
        IF FOUND THEN
            created := false;
            RETURN;
        END IF;
        created := accept(
            push.id, push.queue, push.task, work, push.version, push.priority, push.max_attempts,
            push.delay, push.ready_at, push.expires, push.key, push.backoff, push.timeout,
            push.correlation_id, push.meta::text, true, NULL
        );
        IF created THEN
            job_id := push.id;
            RETURN;
        END IF;
    END LOOP;
END
$$;

-- Whether two documents say the same. jsonb refuses NUL, which JSON allows: it is masked meanwhile, by
-- a character that is in neither.
CREATE FUNCTION same_json(one text, other text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    mask integer := 57344;
BEGIN
    IF one = other THEN
        RETURN true;
    END IF;
    IF strpos(one, E'\\u0000') = 0 AND strpos(other, E'\\u0000') = 0 THEN
        RETURN one::jsonb = other::jsonb;
    END IF;
    WHILE strpos(one || other, chr(mask)) > 0 LOOP
        mask := mask + 1;
    END LOOP;
    -- A backslash that is escaped itself begins nothing.
    RETURN replace(
        replace(replace(one, E'\\\\', E'\x01'), E'\\u0000', chr(mask)), E'\x01', E'\\\\'
    )::jsonb = replace(
        replace(replace(other, E'\\\\', E'\x01'), E'\\u0000', chr(mask)), E'\x01', E'\\\\'
    )::jsonb;
END
$$;

-- The limits of ferryman.message, sentence by sentence: what it refuses could be stored here and then
-- be read by nobody.
CREATE FUNCTION check_message(
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
        {schema}.check_name('key', key, 512, 1800),
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

CREATE FUNCTION check_name(
    name text,
    value text,
    longest integer,
    bytes integer DEFAULT NULL
) RETURNS void
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
    IF octet_length(value) > bytes THEN
        RAISE check_violation USING MESSAGE = format(
            '%s: is %s bytes long in UTF-8, the limit is %s', name, octet_length(value), bytes
        );
    END IF;
    IF value ~ E'[\\x01-\\x1f\\x7f-\\x9f]' THEN
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
    number CONSTANT text := '-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]{1,3})?';
    -- Others would be an error where they are too large or too small.
    numbers numeric[];
BEGIN
    IF backoff ~ format('^%1$s(,%1$s){3}$', number) THEN
        numbers := string_to_array(backoff, ',');
    END IF;
    IF numbers IS NULL OR NOT (
        numbers[1] BETWEEN 0 AND 316224000
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
        ~ E'(?:^|[[,:\\s])-?[0-9]+(?:[.][0-9]+)?[eE]\\+?[0-9]{3}|[0-9]{200}';
    paired CONSTANT boolean := strpos(body, E'\\ud') > 0 OR strpos(body, E'\\uD') > 0;
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
        document := replace(body, E'\\u0000', E'\\u0001')::jsonb;
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
