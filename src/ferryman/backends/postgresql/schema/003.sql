-- Claims jobs of queues, each up to its limit: by priority, tenants in turn, then by time. `floors` are
-- the least `ready_at` to look at, one for each queue.
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
    fair CONSTANT boolean := EXISTS (
        SELECT FROM tenant_queues WHERE tenant_queues.queue = ANY (poll.queues)
    );
BEGIN
    -- Whoever pauses a queue takes this lock alone: no claim follows a pause.
    PERFORM pg_advisory_xact_lock_shared(hashtextextended(name, {queue_lock}))
    FROM unnest(queues) AS name;
    moment := coalesce(given_now, extract(epoch FROM clock_timestamp()));
    -- What has become due joins the ready ones before the claim, or priority would suffer. Arrays,
    -- here and below, because a join may begin with the table: when it is almost empty, that is
    -- cheap, but for the dead rows that an old transaction keeps in it.
    UPDATE jobs
    SET scheduled = false,
        tenant_turn = CASE WHEN tenant IS NULL THEN 0 ELSE next_turn(queue, tenant, priority) END
    WHERE seq = ANY (ARRAY(
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
    ));
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
                ORDER BY priority DESC, tenant_turn, ready_at, seq
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
        WHERE seq = ANY (ARRAY(SELECT seq FROM chosen))
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
                SELECT seq, priority, tenant_turn, ready_at
                FROM jobs
                WHERE queue = tasks.name
                    AND task = tasks.task
                    AND state = 'pending'
                    AND NOT scheduled
                    AND ready_at <= moment
                    AND (deadline IS NULL OR deadline > moment)
                ORDER BY priority DESC, tenant_turn, ready_at, seq
                LIMIT tasks.n
                FOR UPDATE SKIP LOCKED
            ) AS first
            WHERE tasks.task <> ALL (skip_tasks)
        ), ranked AS (
            SELECT seq, n, row_number() OVER (
                PARTITION BY name ORDER BY priority DESC, tenant_turn, ready_at, seq
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
        WHERE seq = ANY (ARRAY(SELECT seq FROM ranked WHERE place <= n))
        RETURNING jobs.*;
    END IF;
    IF fair THEN
        INSERT INTO turns (queue, priority, turn)
        SELECT queue, priority, max(tenant_turn)
        FROM jobs
        WHERE state = 'processing'
            AND worker = poll.worker
            AND turn = poll.turn
            AND started_at = moment
            AND tenant IS NOT NULL
        GROUP BY queue, priority
        -- In one order, so that two polls do not wait for each other in a circle.
        ORDER BY queue, priority
        ON CONFLICT (queue, priority) DO UPDATE
        SET turn = excluded.turn
        WHERE excluded.turn > turns.turn;
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
SET enable_bitmapscan = off
SET enable_nestloop = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    moment double precision := coalesce(given_now, extract(epoch FROM clock_timestamp()));
    listed CONSTANT text[] := string_to_array(ids, E'\n');
    numbers CONSTANT bigint[] := string_to_array(fences, E'\n');
    -- Most claims are their jobs' first: then none has to look for its own.
    common CONSTANT bigint := CASE WHEN numbers[1] = ALL (numbers) THEN numbers[1] END;
BEGIN
    RETURN QUERY
    WITH done AS (
        -- No join, which may begin with the table, as said in poll; no bitmap, which takes rows as
        -- they lie: whoever takes several takes them by their ids.
        DELETE FROM jobs
        WHERE id = ANY (listed)
            AND fence = coalesce(common, numbers[array_position(listed, id)])
            -- Spelt so that the index of claims is of no use: it leads to all that ever were, too.
            AND worker || '' = ack.worker
            AND state || '' = 'processing'
            AND asked IS NULL
        RETURNING *
    ), kept AS (
        INSERT INTO history (
            seq, priority, version, ready_at, created_at, started_at, finished_at, deadline, timeout,
            percent, fence, generation, given_back, turn, attempts, max_attempts, scheduled, state, id,
            queue, task, worker, settled, key, backoff, correlation_id, meta, note, error, body, result,
            stored_checkpoint, tenant
        )
        SELECT
            seq, priority, version, ready_at, created_at, started_at, moment, deadline, timeout,
            percent, fence, generation, given_back, turn, attempts, max_attempts, false, 'completed',
            id, queue, task, worker, fence || ':' || worker || ':ack', key, backoff, correlation_id,
            meta, note, error, body, given.result, stored_checkpoint, tenant
        FROM done
        LEFT JOIN unnest(CASE WHEN results IS NOT NULL THEN listed END, results)
            AS given (id, result) USING (id)
        RETURNING id
    )
    SELECT id FROM unnest(listed) AS id
    EXCEPT
    SELECT id FROM kept;
END
$$;

-- Prolongs claims that are still the current ones of their jobs, and stores what they report. Each job
-- is listed once.
CREATE FUNCTION heartbeat(
    worker text,
    ids text[],
    fences bigint[],
    percents double precision[],
    notes text[],
    checkpoints text[],
    moment double precision,
    until double precision
) RETURNS TABLE (id text, fence bigint, seq bigint, asked text)
LANGUAGE plpgsql
SET search_path = {schema}, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    -- By arrays, and past the index of claims, for the same reasons as ack.
    UPDATE jobs
    SET heartbeat_at = moment,
        expires_at = until,
        percent = coalesce(percents[array_position(ids, id)], percent),
        note = coalesce(notes[array_position(ids, id)], note),
        stored_checkpoint = coalesce(checkpoints[array_position(ids, id)], stored_checkpoint)
    WHERE id = ANY (ids)
        AND fence = fences[array_position(ids, id)]
        AND worker || '' = heartbeat.worker
        AND state || '' = 'processing'
    RETURNING id, fence, seq, asked;
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
