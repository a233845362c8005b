-- Whether a queue has a job to claim, and when its next scheduled one is due.
SELECT
    EXISTS (
        SELECT 1
        FROM jobs INDEXED BY ready
        WHERE queue = :queue
            AND state = 'pending'
            AND scheduled = 0
            AND ready_at <= :now
            AND (deadline IS NULL OR deadline > :now)
    ),
    (
        SELECT min(ready_at)
        FROM jobs INDEXED BY scheduled
        WHERE queue = :queue AND state = 'pending' AND scheduled = 1
    )
