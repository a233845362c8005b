-- Accepts one whole job at the end of the push order.
INSERT INTO jobs (
    id, queue, task, body, state, priority, ready_at, version, attempts, max_attempts, fence,
    generation, given_back, created_at, started_at, finished_at, deadline, worker, key, backoff,
    timeout, correlation_id, percent, note, stored_checkpoint, result, error, meta, scheduled,
    tenant
)
VALUES (
    :id, :queue, :task, :body, :state, :priority, :ready_at, :version, :attempts, :max_attempts,
    :fence, :generation, :given_back, :created_at, :started_at, :finished_at, :deadline, :worker,
    :key, :backoff, :timeout, :correlation_id, :percent, :note, :stored_checkpoint, :result, :error,
    :meta, :scheduled, :tenant
)
RETURNING seq
