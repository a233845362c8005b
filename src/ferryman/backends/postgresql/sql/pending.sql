-- Those of some jobs that are pending.
SELECT id, queue, priority, ready_at
FROM {schema}.jobs
WHERE id = ANY (%(ids)s) AND state || '' = 'pending'
