-- Claims the next ready jobs of a queue; the index `ready` is the promised order.
UPDATE jobs
SET state = 'processing',
    fence = fence + 1,
    attempts = attempts + 1,
    worker = :worker,
    turn = :turn,
    started_at = :now,
    heartbeat_at = :now,
    expires_at = :expires_at
WHERE seq IN (
    SELECT seq
    FROM jobs
    WHERE queue = :queue
        AND state = 'pending'
        AND scheduled = 0
        AND ready_at <= :now
        AND (deadline IS NULL OR deadline > :now)
        AND task NOT IN (SELECT value FROM json_each(:skip_tasks))
    ORDER BY priority DESC, ready_at, seq
    LIMIT :limit
)
RETURNING {job}
