-- Tenants: `tenant_turn` is a ready job's place among the tenants of its queue and priority, 0 without
-- a tenant and while it is not ready.
ALTER TABLE jobs
    ADD COLUMN tenant text COLLATE "C",
    ADD COLUMN tenant_turn bigint NOT NULL DEFAULT 0;

ALTER TABLE history
    ADD COLUMN tenant text COLLATE "C",
    ADD COLUMN tenant_turn bigint NOT NULL DEFAULT 0;

DROP INDEX ready;
CREATE INDEX ready ON jobs (queue, priority DESC, tenant_turn, ready_at, seq)
    WHERE state = 'pending' AND NOT scheduled AND fence >= 0;

DROP INDEX ready_by_task;
CREATE INDEX ready_by_task ON jobs (queue, task, priority DESC, tenant_turn, ready_at, seq)
    WHERE state = 'pending' AND NOT scheduled;

CREATE INDEX tenants ON jobs (queue, tenant, priority, tenant_turn)
    WHERE tenant IS NOT NULL AND state = 'pending';

-- The latest turn of which a job was claimed; a queue is listed from its first tenant on.
CREATE TABLE turns (
    turn bigint NOT NULL,
    priority integer NOT NULL,
    queue text COLLATE "C" NOT NULL,
    PRIMARY KEY (queue, priority)
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000);

-- How many pending jobs a queue has, or a tenant of it, due or not. Counted no further than asked, so that the answer
-- costs a capacity and not a backlog.
CREATE FUNCTION depth(queue text, tenant text, most integer) RETURNS bigint
LANGUAGE plpgsql STABLE
SET search_path = {schema}, pg_temp
SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
BEGIN
    IF depth.tenant IS NOT NULL THEN
        RETURN (
            SELECT count(*)
            FROM (
                SELECT
                FROM jobs
                WHERE queue = depth.queue AND tenant = depth.tenant AND state = 'pending'
                LIMIT most
            ) AS waiting
        );
    END IF;
    RETURN (
        SELECT count(*)
        FROM (
            (
                SELECT
                FROM jobs
                WHERE queue = depth.queue AND state = 'pending' AND NOT scheduled AND fence >= 0
                LIMIT most
            )
            UNION ALL
            (
                SELECT
                FROM jobs
                WHERE queue = depth.queue AND state = 'pending' AND scheduled
                LIMIT most
            )
            LIMIT most
        ) AS waiting
    );
END
$$;

-- The turn after the tenant's last, and after the one that was last claimed. Nothing is locked: two
-- pushes of one tenant at the same moment may get the same turn. Volatile, so that it sees the turns
-- that the statement which calls it has given so far.
CREATE FUNCTION next_turn(queue text, tenant text, priority integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path = {schema}, pg_temp
SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    claimed bigint;
    own bigint;
BEGIN
    SELECT turn INTO claimed
    FROM turns
    WHERE queue = next_turn.queue AND priority = next_turn.priority;
    IF NOT FOUND THEN
        INSERT INTO turns (queue, priority, turn)
        VALUES (next_turn.queue, next_turn.priority, 0)
        ON CONFLICT DO NOTHING;
    END IF;
    SELECT max(tenant_turn) INTO own
    FROM jobs
    WHERE queue = next_turn.queue
        AND tenant = next_turn.tenant
        AND priority = next_turn.priority
        AND state = 'pending';
    RETURN 1 + greatest(coalesce(claimed, 0), coalesce(own, 0));
END
$$;

-- `accept` for a message of a tenant.
CREATE FUNCTION accept_in_turn(
    tenant text,
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
BEGIN
    IF NOT accept(
        accept_in_turn.id, accept_in_turn.queue, accept_in_turn.task, accept_in_turn.body,
        accept_in_turn.version, accept_in_turn.priority, accept_in_turn.max_attempts,
        accept_in_turn.delay, accept_in_turn.ready_at, accept_in_turn.expires, accept_in_turn.key,
        accept_in_turn.backoff, accept_in_turn.timeout, accept_in_turn.correlation_id,
        accept_in_turn.meta, announce, given_now
    ) THEN
        RETURN false;
    END IF;
    UPDATE jobs
    SET tenant = accept_in_turn.tenant,
        tenant_turn = CASE
            WHEN scheduled THEN 0
            ELSE next_turn(queue, accept_in_turn.tenant, priority)
        END
    WHERE id = accept_in_turn.id;
    RETURN true;
END
$$;

-- With the order of tenants, and where there are some, the turn that was claimed.
CREATE OR REPLACE FUNCTION poll(
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
        SELECT FROM turns WHERE turns.queue = ANY (poll.queues)
    );
BEGIN
    -- Whoever pauses a queue takes this lock alone: no claim follows a pause.
    PERFORM pg_advisory_xact_lock_shared(hashtextextended(name, {queue_lock}))
    FROM unnest(queues) AS name;
    moment := coalesce(given_now, extract(epoch FROM clock_timestamp()));
    -- What has become due joins the ready ones before the claim, or priority would suffer.
    UPDATE jobs
    SET scheduled = false,
        tenant_turn = CASE WHEN tenant IS NULL THEN 0 ELSE next_turn(queue, tenant, priority) END
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
        FROM ranked
        WHERE jobs.seq = ranked.seq AND ranked.place <= ranked.n
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

-- With the tenant.
CREATE OR REPLACE FUNCTION ack(
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
            stored_checkpoint, tenant
        )
        SELECT
            seq, priority, version, ready_at, created_at, started_at, moment, deadline, timeout,
            percent, fence, generation, given_back, turn, attempts, max_attempts, false, 'completed',
            id, queue, task, worker, fence || ':' || worker || ':ack', key, backoff, correlation_id,
            meta, note, error, body, answer, stored_checkpoint, tenant
        FROM done
        RETURNING id
    )
    SELECT id FROM unnest(listed) AS id
    EXCEPT
    SELECT id FROM kept;
END
$$;
