-- Forgets jobs.
DELETE FROM jobs
WHERE seq IN (SELECT value FROM json_each(:seqs))
RETURNING seq, queue, state, scheduled, meta
