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
                AND (known.body = work OR known.body::jsonb = work::jsonb) THEN
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

-- The limits of ferryman.message, which guards the messages of Python.
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
DECLARE
    names CONSTANT jsonb := jsonb_build_object(
        'queue', queue, 'task', task, 'id', id, 'key', key, 'correlation_id', correlation_id
    );
    seconds CONSTANT jsonb := jsonb_build_object(
        'delay', delay, 'expires', expires, 'timeout', timeout
    );
    numbers CONSTANT double precision[] := string_to_array(backoff, ',');
    name text;
    value text;
BEGIN
    IF queue IS NULL OR task IS NULL OR id IS NULL OR body IS NULL OR delay IS NULL THEN
        RAISE null_value_not_allowed USING MESSAGE = 'queue, task, body, id and delay are needed';
    END IF;
    FOR name, value IN SELECT * FROM jsonb_each_text(names) LOOP
        IF btrim(value) = '' OR value ~ '[\x01-\x1f\x7f-\x9f]' THEN
            RAISE check_violation USING MESSAGE = format('%s: is empty or has controls', name);
        END IF;
        IF length(value) > (CASE WHEN name IN ('queue', 'task') THEN 200 ELSE 512 END) THEN
            RAISE check_violation USING MESSAGE = format('%s: is too long', name);
        END IF;
    END LOOP;
    FOR name, value IN SELECT * FROM jsonb_each_text(seconds) LOOP
        IF NOT value::double precision BETWEEN 0 AND 316224000 THEN
            RAISE check_violation USING MESSAGE = format('%s: is not seconds up to ten years', name);
        END IF;
    END LOOP;
    IF octet_length(body) > 1048576 THEN
        RAISE check_violation USING MESSAGE = 'body: is over 1 MiB: push a reference to it';
    END IF;
    IF priority IS NULL OR abs(priority::bigint) > 1000000000 THEN
        RAISE check_violation USING MESSAGE = 'priority: is out of range';
    END IF;
    IF version IS NULL OR version NOT BETWEEN 1 AND 1000000000
        OR max_attempts IS NULL OR max_attempts NOT BETWEEN 1 AND 1000000 THEN
        RAISE check_violation USING MESSAGE = 'version, max_attempts: must be above zero';
    END IF;
    IF NOT ready_at BETWEEN 0 AND 100000000000 OR (ready_at IS NOT NULL AND delay > 0) THEN
        RAISE check_violation USING
            MESSAGE = 'ready_at: is not seconds since the epoch, or stands beside a delay';
    END IF;
    -- base, factor, cap and jitter.
    IF NOT (
        cardinality(numbers) = 4
        AND numbers[1] BETWEEN 0 AND 316224000
        AND numbers[2] BETWEEN 1 AND 100
        AND numbers[3] BETWEEN 0 AND 316224000
        AND numbers[4] BETWEEN 0 AND 1
    ) THEN
        RAISE check_violation USING MESSAGE = format('backoff: %L is not one', backoff);
    END IF;
    IF meta IS NOT NULL AND (
        jsonb_typeof(meta) <> 'object'
        OR EXISTS (SELECT FROM jsonb_each(meta) AS pair WHERE jsonb_typeof(pair.value) <> 'string')
    ) THEN
        RAISE check_violation USING MESSAGE = 'meta: must be an object of strings';
    END IF;
END
$$;
