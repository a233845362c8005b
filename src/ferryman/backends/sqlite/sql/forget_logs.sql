-- Forgets the logs of jobs.
DELETE FROM logs WHERE seq IN (SELECT value FROM json_each(:seqs))
