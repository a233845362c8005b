-- A queue's paused jobs, up to a seq.
SELECT seq
FROM {schema}.jobs
WHERE queue = %(queue)s AND state = 'paused' AND seq <= %(newest)s
ORDER BY seq
LIMIT %(limit)s
FOR UPDATE
