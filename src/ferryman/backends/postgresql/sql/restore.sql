-- Accepts one whole job at the end of the push order, unless a job has its id.
INSERT INTO {schema}.jobs (
    id, queue, task, body, state, priority, ready_at, version, attempts, max_attempts, fence,
    generation, given_back, created_at, started_at, finished_at, deadline, worker, key, backoff,
    timeout, correlation_id, percent, note, stored_checkpoint, result, error, meta, scheduled,
    tenant, tenant_turn
)
VALUES (
    %(id)s, %(queue)s, %(task)s, %(body)s, %(state)s, %(priority)s, %(ready_at)s, %(version)s,
    %(attempts)s, %(max_attempts)s, %(fence)s, %(generation)s, %(given_back)s, %(created_at)s,
    %(started_at)s, %(finished_at)s, %(deadline)s, %(worker)s, %(key)s, %(backoff)s, %(timeout)s,
    %(correlation_id)s, %(percent)s, %(note)s, %(stored_checkpoint)s, %(result)s, %(error)s,
    %(meta)s, %(scheduled)s, %(tenant)s,
    CASE
        WHEN %(tenant)s::text IS NULL OR %(state)s <> 'pending' OR %(scheduled)s THEN 0
        ELSE {schema}.next_turn(%(queue)s, %(tenant)s, %(priority)s)
    END
)
ON CONFLICT (id) DO NOTHING
RETURNING seq
