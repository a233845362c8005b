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
    IF announce AND pg_notification_queue_usage() < 0.5 THEN
        -- Named, its queue has a job to claim; otherwise those who wait look when it will have one.
        PERFORM pg_notify({channel}, CASE WHEN due > moment THEN '' ELSE accept.queue END);
    END IF;
    RETURN true;
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
    IF NOT FOUND AND NOT EXISTS (
        SELECT FROM tenant_queues WHERE queue = next_turn.queue
    ) THEN
        INSERT INTO tenant_queues (queue) VALUES (next_turn.queue);
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

-- Whether one of these has finished. `ids` are one in each line: that is read faster than an array.
-- A function, because only functions can rule out a plan: while the server knows nothing yet of how
-- large history is, reading all of it seems cheaper than a hundred looks into an index.
CREATE FUNCTION any_finished(ids text) RETURNS boolean
LANGUAGE plpgsql
SET search_path = {schema}, pg_temp
SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM history WHERE id = ANY (string_to_array(any_finished.ids, E'\n'))
    );
END
$$;

-- The jobs that have these ids, from one look at both tables.
CREATE FUNCTION find_all(ids text) RETURNS SETOF jobs
LANGUAGE plpgsql
SET search_path = {schema}, pg_temp
SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    wanted CONSTANT text[] := string_to_array(find_all.ids, E'\n');
BEGIN
    RETURN QUERY
        SELECT * FROM jobs WHERE id = ANY (wanted)
        UNION ALL
        SELECT * FROM history WHERE id = ANY (wanted);
END
$$;
