-- Ends a waiting job.
UPDATE jobs SET state = 'cancelled', scheduled = 0, finished_at = :now WHERE seq = :seq
