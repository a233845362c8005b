-- Jobs whose deadline passed while they waited, oldest first.
SELECT {known}
FROM jobs
WHERE deadline IS NOT NULL AND (state = 'pending' OR state = 'paused') AND deadline <= :now
ORDER BY deadline
LIMIT :limit
