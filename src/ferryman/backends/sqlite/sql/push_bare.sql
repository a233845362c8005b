-- Accepts one message without extras, unless a job has its id.
INSERT OR IGNORE INTO jobs (
    id, queue, task, version, priority, max_attempts, body, created_at, ready_at, scheduled,
    timeout, state
)
VALUES (
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
    nullif(?, -1), 'pending'
)
