-- A queue's ready jobs, up to a seq.
SELECT seq
FROM {schema}.jobs
WHERE queue = %(queue)s
    AND state = 'pending'
    AND NOT scheduled
    AND fence >= 0
    AND seq <= %(newest)s
ORDER BY priority DESC, tenant_turn, ready_at, seq
LIMIT %(limit)s
FOR UPDATE
