-- Jobs that were claimed a moment ago.
SELECT {job} FROM jobs
WHERE seq IN (SELECT value FROM json_each(:seqs)) AND state = 'processing' AND worker = :worker
