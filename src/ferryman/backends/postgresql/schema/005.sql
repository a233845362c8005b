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
    IF strpos(document, E'\\u') = 0 THEN
        RETURN document::json #> place;
    END IF;
    WHILE strpos(document, chr(mask)) > 0 LOOP
        mask := mask + 1;
    END LOOP;
    -- A backslash that is escaped itself begins nothing.
    masked := regexp_replace(
        replace(document, E'\\\\', E'\x01'),
        E'\\\\u(?=0000|d[89ab]..(?!\\\\ud[c-f]))|(?<!\\\\ud[89ab]..)\\\\u(?=d[c-f])',
        chr(mask),
        'gi'
    );
    RETURN replace(
        (replace(masked, E'\x01', E'\\\\')::json #> place)::text, chr(mask), E'\\u'
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
    IF strpos(value::text, E'\\u') > 0 AND replace(value::text, E'\\\\', '')
        ~* E'\\\\u(0000|d[89ab]..(?!\\\\ud[c-f]))|(?<!\\\\ud[89ab]..)\\\\ud[c-f]' THEN
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
