-- Forgets the errors of jobs.
DELETE FROM errors WHERE seq IN (SELECT value FROM json_each(:seqs))
