-- A queue's ready jobs that have a tenant and no turn yet, in the order in which they get it.
SELECT seq
FROM jobs
WHERE queue = :queue
    AND tenant IS NOT NULL
    AND state = 'pending'
    AND scheduled = 0
    AND tenant_turn = 0
ORDER BY ready_at, seq
