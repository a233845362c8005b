-- The jobs that ended in one state since a moment.
SELECT seq
FROM jobs INDEXED BY finished
WHERE finished_at IS NOT NULL AND state = :state AND finished_at > :since
LIMIT :limit
