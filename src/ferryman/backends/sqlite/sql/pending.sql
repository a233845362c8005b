-- Those of some jobs that are pending.
SELECT id, queue, priority, ready_at
FROM jobs
WHERE id IN (SELECT value FROM json_each(:ids)) AND state = 'pending'
