-- Moves a queue's scheduled jobs that are due among the ready ones.
UPDATE jobs
SET scheduled = 0
WHERE queue = :queue AND state = 'pending' AND scheduled = 1 AND ready_at <= :now
