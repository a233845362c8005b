-- Accepts one message, unless a job has its id.
-- What is missing comes as '' or -1: Python's driver takes half a microsecond to bind a None.
INSERT OR IGNORE INTO jobs (
    id, queue, task, version, priority, max_attempts, body, created_at, ready_at, scheduled,
    timeout, key, backoff, correlation_id, meta, deadline, state
)
VALUES (
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
    nullif(?, -1), nullif(?, ''), nullif(?, ''), nullif(?, ''), nullif(?, ''), nullif(?, -1),
    'pending'
)
