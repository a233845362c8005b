-- The cancelled jobs, by the index of what is set aside.
SELECT seq
FROM jobs INDEXED BY set_aside
WHERE (state = 'failed' OR state = 'cancelled' OR state = 'paused') AND state = 'cancelled'
