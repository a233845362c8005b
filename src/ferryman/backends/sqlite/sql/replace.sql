-- Puts a message's body and options into a job that waits.
UPDATE jobs
SET queue = :queue,
    task = :task,
    version = :version,
    priority = :priority,
    max_attempts = :max_attempts,
    key = nullif(:key, ''),
    backoff = nullif(:backoff, ''),
    timeout = nullif(:timeout, -1),
    correlation_id = nullif(:correlation_id, ''),
    body = :body,
    meta = nullif(:meta, ''),
    tenant = :tenant,
    tenant_turn = 0,
    ready_at = :ready_at,
    scheduled = :scheduled,
    deadline = nullif(:deadline, -1),
    attempts = 0,
    given_back = 0,
    percent = NULL,
    note = NULL,
    stored_checkpoint = NULL
WHERE seq = :seq
