-- A queue's scheduled jobs, up to a seq.
SELECT seq
FROM jobs
WHERE queue = :queue AND state = 'pending' AND scheduled = 1 AND seq <= :newest
LIMIT :limit
