-- Ends a waiting job.
UPDATE {schema}.jobs
SET state = 'cancelled', scheduled = false, finished_at = %(now)s
WHERE seq = %(seq)s
