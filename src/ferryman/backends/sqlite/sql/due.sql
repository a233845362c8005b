-- How many of a queue's scheduled jobs are due, though no poll has promoted them yet.
SELECT count(*)
FROM jobs
WHERE queue = :queue AND state = 'pending' AND scheduled = 1 AND ready_at <= :now
