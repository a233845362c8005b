-- Of some ready jobs those that may be claimed from a queue.
SELECT priority, tenant_turn, ready_at, seq, fence
FROM jobs
WHERE id IN (SELECT value FROM json_each(:ids))
    AND queue = :queue
    AND state = 'pending'
    AND ready_at <= :now
    AND (deadline IS NULL OR deadline > :now)
    AND task NOT IN (SELECT value FROM json_each(:skip_tasks))
