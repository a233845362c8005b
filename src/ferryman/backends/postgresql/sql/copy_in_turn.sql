-- Accepts many messages of tenants, unless a job that is not finished has one of their ids.
COPY {schema}.jobs (
    id, queue, task, body, version, priority, max_attempts, created_at, ready_at, scheduled,
    deadline, key, backoff, timeout, correlation_id, meta, tenant, tenant_turn
)
FROM STDIN
