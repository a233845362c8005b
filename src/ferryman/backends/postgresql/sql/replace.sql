-- Puts a message's body and options into a job, if it waits.
UPDATE {schema}.jobs
SET queue = %(queue)s,
    task = %(task)s,
    version = %(version)s,
    priority = %(priority)s,
    max_attempts = %(max_attempts)s,
    key = %(key)s,
    backoff = %(backoff)s,
    timeout = %(timeout)s,
    correlation_id = %(correlation_id)s,
    body = %(body)s,
    meta = %(meta)s,
    tenant = %(tenant)s,
    tenant_turn = CASE
        WHEN %(tenant)s::text IS NULL OR state <> 'pending' OR %(scheduled)s THEN 0
        ELSE {schema}.next_turn(%(queue)s, %(tenant)s, %(priority)s)
    END,
    ready_at = %(ready_at)s,
    scheduled = state = 'pending' AND %(scheduled)s,
    deadline = %(deadline)s,
    attempts = 0,
    given_back = 0,
    percent = NULL,
    note = NULL,
    stored_checkpoint = NULL
WHERE seq = %(seq)s AND state IN ('pending', 'paused')
