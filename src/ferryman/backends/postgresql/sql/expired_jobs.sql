-- Jobs whose deadline passed while they waited, oldest first.
SELECT {known}
FROM {schema}.jobs
WHERE deadline IS NOT NULL AND (state = 'pending' OR state = 'paused') AND deadline <= %(now)s
ORDER BY deadline
LIMIT %(limit)s
FOR UPDATE SKIP LOCKED
