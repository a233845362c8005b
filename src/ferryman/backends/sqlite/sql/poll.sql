-- A queue's ready jobs of one task in the promised order, as they will be once claimed.
SELECT {claimed}
FROM jobs
WHERE queue = :queue
    AND task = :task
    AND state = 'pending'
    AND scheduled = 0
    AND ready_at <= :now
    AND (deadline IS NULL OR deadline > :now)
ORDER BY priority DESC, ready_at, seq
LIMIT :limit OFFSET :offset
