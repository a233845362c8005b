-- Accepts one message, unless a job has its id.
INSERT OR IGNORE INTO jobs (
    id, queue, task, version, priority, max_attempts, key, backoff, timeout, correlation_id, body,
    meta, created_at, ready_at, scheduled, deadline, state
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending')
