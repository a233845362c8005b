-- Jobs that ended in one state before a moment, oldest first.
SELECT finished_at, seq
FROM jobs
WHERE state = :state AND finished_at < :before
ORDER BY finished_at
LIMIT :limit
