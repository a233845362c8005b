-- Claims due jobs for a worker.
SELECT {job}
FROM {schema}.poll(
    %(worker)s, %(queues)s, %(limits)s, %(floors)s, %(lease)s, %(turn)s, %(skip_tasks)s, %(now)s
)
ORDER BY priority DESC, tenant_turn, ready_at, seq
