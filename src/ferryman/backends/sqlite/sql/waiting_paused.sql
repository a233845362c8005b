-- A queue's paused jobs, up to a seq.
SELECT seq
FROM jobs
WHERE queue = :queue
    AND (state = 'failed' OR state = 'cancelled' OR state = 'paused')
    AND state = 'paused'
    AND seq <= :newest
LIMIT :limit
