-- A queue's ready jobs, up to a seq.
SELECT seq
FROM jobs
WHERE queue = :queue AND state = 'pending' AND scheduled = 0 AND seq <= :newest
LIMIT :limit
