-- The verbs of every job, as functions: one round trip although each of their statements sees what
-- was committed before it, and plans that are kept without a prepared statement, which a pooler
-- between transactions would lose. A function that workers call is never changed, only followed by
-- one of another name: workers of the version before may still run.
--
-- Their settings: a plan made while the table was small must not be kept when it has grown.

CREATE FUNCTION accept(
    id text,
    queue text,
    task text,
    body text,
    version integer,
    priority integer,
    max_attempts integer,
    delay double precision,
    ready_at double precision,
    expires double precision,
    key text,
    backoff text,
    timeout double precision,
    correlation_id text,
    meta text,
    announce boolean,
    given_now double precision
) RETURNS boolean
LANGUAGE plpgsql
SET search_path = {schema}, pg_temp
SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    moment double precision := coalesce(given_now, extract(epoch FROM clock_timestamp()));
    due double precision := coalesce(accept.ready_at, moment + accept.delay);
    known boolean;
BEGIN
    INSERT INTO jobs (
        id, queue, task, body, version, priority, max_attempts, created_at, ready_at, scheduled,
        deadline, key, backoff, timeout, correlation_id, meta
    )
    VALUES (
        accept.id, accept.queue, accept.task, accept.body, accept.version, accept.priority,
        accept.max_attempts, moment, due, due > moment, moment + accept.expires, accept.key,
        accept.backoff, accept.timeout, accept.correlation_id, accept.meta
    )
    ON CONFLICT (id) DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF current_setting('transaction_isolation') = 'read committed' THEN
        -- A new statement, so it sees a settlement for which the insertion had to wait.
        PERFORM FROM history WHERE id = accept.id;
        known := FOUND;
    ELSE
        -- All statements of this transaction see the same moment; only a unique index knows more,
        -- and ends the transaction if the job was settled since.
        INSERT INTO history SELECT * FROM jobs WHERE id = accept.id ON CONFLICT (id) DO NOTHING;
        known := NOT FOUND;
        IF NOT known THEN
            DELETE FROM history WHERE id = accept.id;
        END IF;
    END IF;
    IF known THEN
        DELETE FROM jobs WHERE id = accept.id;
        RETURN false;
    END IF;
    IF announce THEN
        -- Named, its queue has a job to claim; otherwise those who wait look when it will have one.
        PERFORM pg_notify({channel}, CASE WHEN due > moment THEN '' ELSE accept.queue END);
    END IF;
    RETURN true;
END
$$;

-- `floors` are the least `ready_at` to look at, one for each queue.
CREATE FUNCTION poll(
    worker text,
    queues text[],
    limits integer[],
    floors double precision[],
    lease double precision,
    turn bigint,
    skip_tasks text[],
    given_now double precision
) RETURNS SETOF jobs
LANGUAGE plpgsql
SET search_path = {schema}, pg_temp
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    moment double precision;
BEGIN
    -- Whoever pauses a queue takes this lock alone: no claim follows a pause.
    PERFORM pg_advisory_xact_lock_shared(hashtextextended(name, {queue_lock}))
    FROM unnest(queues) AS name;
    moment := coalesce(given_now, extract(epoch FROM clock_timestamp()));
    -- What has become due joins the ready ones before the claim, or priority would suffer.
    UPDATE jobs
    SET scheduled = false
    WHERE seq IN (
        SELECT due.seq
        FROM unnest(queues) AS name
        CROSS JOIN LATERAL (
            SELECT seq
            FROM jobs
            WHERE queue = name AND state = 'pending' AND scheduled AND ready_at <= moment
            ORDER BY ready_at
            LIMIT 10000
            FOR UPDATE SKIP LOCKED
        ) AS due
    );
    IF cardinality(skip_tasks) = 0 THEN
        RETURN QUERY
        WITH chosen AS MATERIALIZED (
            SELECT first.seq
            FROM unnest(queues, limits, floors) AS wanted (name, n, floor)
            CROSS JOIN LATERAL (
                SELECT seq
                FROM jobs
                WHERE queue = wanted.name
                    AND state = 'pending'
                    AND NOT scheduled
                    AND fence >= 0
                    AND ready_at >= wanted.floor
                    AND ready_at <= moment
                    AND (deadline IS NULL OR deadline > moment)
                ORDER BY priority DESC, ready_at, seq
                LIMIT wanted.n
                FOR UPDATE SKIP LOCKED
            ) AS first
            WHERE NOT EXISTS (SELECT FROM paused_queues WHERE queue = wanted.name)
        )
        UPDATE jobs
        SET state = 'processing',
            fence = fence + 1,
            attempts = attempts + 1,
            worker = poll.worker,
            turn = poll.turn,
            started_at = moment,
            heartbeat_at = moment,
            expires_at = moment + lease
        FROM chosen
        WHERE jobs.seq = chosen.seq
        RETURNING jobs.*;
    ELSE
        RETURN QUERY
        WITH RECURSIVE tasks (name, n, task) AS (
            SELECT wanted.name, wanted.n, (
                SELECT min(task)
                FROM jobs
                WHERE queue = wanted.name AND state = 'pending' AND NOT scheduled
            )
            FROM unnest(queues, limits) AS wanted (name, n)
            WHERE NOT EXISTS (SELECT FROM paused_queues WHERE queue = wanted.name)
            UNION ALL
            SELECT tasks.name, tasks.n, (
                SELECT min(task)
                FROM jobs
                WHERE queue = tasks.name
                    AND state = 'pending'
                    AND NOT scheduled
                    AND task > tasks.task
            )
            FROM tasks
            WHERE tasks.task IS NOT NULL
        ), locked AS MATERIALIZED (
            SELECT tasks.name, tasks.n, first.*
            FROM tasks
            CROSS JOIN LATERAL (
                SELECT seq, priority, ready_at
                FROM jobs
                WHERE queue = tasks.name
                    AND task = tasks.task
                    AND state = 'pending'
                    AND NOT scheduled
                    AND ready_at <= moment
                    AND (deadline IS NULL OR deadline > moment)
                ORDER BY priority DESC, ready_at, seq
                LIMIT tasks.n
                FOR UPDATE SKIP LOCKED
            ) AS first
            WHERE tasks.task <> ALL (skip_tasks)
        ), ranked AS (
            SELECT seq, n, row_number() OVER (
                PARTITION BY name ORDER BY priority DESC, ready_at, seq
            ) AS place
            FROM locked
        )
        UPDATE jobs
        SET state = 'processing',
            fence = fence + 1,
            attempts = attempts + 1,
            worker = poll.worker,
            turn = poll.turn,
            started_at = moment,
            heartbeat_at = moment,
            expires_at = moment + lease
        FROM ranked
        WHERE jobs.seq = ranked.seq AND ranked.place <= ranked.n
        RETURNING jobs.*;
    END IF;
END
$$;

-- Ids and fences in lines, results as an array or none at all: for a driver lists are laborious.
CREATE FUNCTION ack(
    ids text,
    fences text,
    worker text,
    results text[],
    given_now double precision
) RETURNS SETOF text
LANGUAGE plpgsql
SET search_path = {schema}, pg_temp
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    moment double precision := coalesce(given_now, extract(epoch FROM clock_timestamp()));
    listed CONSTANT text[] := string_to_array(ids, E'\n');
BEGIN
    RETURN QUERY
    WITH done AS (
        DELETE FROM jobs
        USING unnest(listed, string_to_array(fences, E'\n')::bigint[], results)
            AS ended (id, fence, result)
        WHERE jobs.id = ended.id
            AND jobs.fence = ended.fence
            -- Spelt so that the index of claims is of no use: it would be read whole for each.
            AND jobs.worker || '' = ack.worker
            AND jobs.state || '' = 'processing'
            AND jobs.asked IS NULL
        RETURNING jobs.*, ended.result AS answer
    ), kept AS (
        INSERT INTO history (
            seq, priority, version, ready_at, created_at, started_at, finished_at, deadline, timeout,
            percent, fence, generation, given_back, turn, attempts, max_attempts, scheduled, state, id,
            queue, task, worker, settled, key, backoff, correlation_id, meta, note, error, body, result,
            stored_checkpoint
        )
        SELECT
            seq, priority, version, ready_at, created_at, started_at, moment, deadline, timeout,
            percent, fence, generation, given_back, turn, attempts, max_attempts, false, 'completed',
            id, queue, task, worker, fence || ':' || worker || ':ack', key, backoff, correlation_id,
            meta, note, error, body, answer, stored_checkpoint
        FROM done
        RETURNING id
    )
    SELECT id FROM unnest(listed) AS id
    EXCEPT
    SELECT id FROM kept;
END
$$;

-- Whether one of the queues has a job to claim, and in how many seconds the next one is due.
CREATE FUNCTION ahead(
    queues text[],
    given_now double precision,
    OUT ready boolean,
    OUT due double precision
)
LANGUAGE plpgsql
SET search_path = {schema}, pg_temp
SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    moment CONSTANT double precision := coalesce(
        given_now, extract(epoch FROM clock_timestamp())
    );
BEGIN
    -- LIMIT keeps the planner from reading all jobs into a table for a few questions.
    SELECT
        coalesce(bool_or((
            SELECT true
            FROM jobs
            WHERE queue = name
                AND state = 'pending'
                AND NOT scheduled
                AND fence >= 0
                AND ready_at <= moment
                AND (deadline IS NULL OR deadline > moment)
            LIMIT 1
        )), false),
        min((
            SELECT ready_at - moment
            FROM jobs
            WHERE queue = name AND state = 'pending' AND scheduled
            ORDER BY ready_at
            LIMIT 1
        ))
    INTO ahead.ready, ahead.due
    FROM unnest(queues) AS name
    WHERE NOT EXISTS (SELECT FROM paused_queues WHERE queue = name);
END
$$;

-- Whether the reaper has anything to do, and whether the counters are to be added up.
CREATE FUNCTION overdue(
    given_now double precision,
    OUT overdue boolean,
    OUT uncounted boolean
)
LANGUAGE plpgsql
SET search_path = {schema}, pg_temp
SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    moment CONSTANT double precision := coalesce(
        given_now, extract(epoch FROM clock_timestamp())
    );
BEGIN
    overdue.overdue := EXISTS (
        SELECT FROM jobs WHERE state = 'processing' AND expires_at <= moment
    ) OR EXISTS (
        SELECT
        FROM jobs
        WHERE deadline IS NOT NULL AND (state = 'pending' OR state = 'paused') AND deadline <= moment
    );
    uncounted := EXISTS (SELECT FROM counts OFFSET 200);
END
$$;
