-- Puts a message's body and options into a job that waits.
UPDATE jobs
SET queue = :queue,
    task = :task,
    version = :version,
    priority = :priority,
    max_attempts = :max_attempts,
    key = :key,
    backoff = :backoff,
    timeout = :timeout,
    correlation_id = :correlation_id,
    body = :body,
    meta = :meta,
    ready_at = :ready_at,
    scheduled = :scheduled,
    deadline = :deadline,
    attempts = 0,
    given_back = 0,
    percent = NULL,
    note = NULL,
    stored_checkpoint = NULL
WHERE seq = :seq
