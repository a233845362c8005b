-- A queue's ready jobs of one task in the promised order, as far as a claim must know them.
SELECT priority, tenant_turn, ready_at, seq, fence
FROM jobs
WHERE queue = :queue
    AND task = :task
    AND state = 'pending'
    AND scheduled = 0
    AND ready_at <= :now
    AND (deadline IS NULL OR deadline > :now)
ORDER BY priority DESC, tenant_turn, ready_at, seq
LIMIT :limit OFFSET :offset
