-- A queue's scheduled jobs, up to a seq.
SELECT seq
FROM {schema}.jobs
WHERE queue = %(queue)s AND state = 'pending' AND scheduled AND seq <= %(newest)s
ORDER BY ready_at
LIMIT %(limit)s
FOR UPDATE
