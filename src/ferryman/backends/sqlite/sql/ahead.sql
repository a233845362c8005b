-- Whether a queue has a job to claim, and when its next scheduled one is due.
SELECT
    EXISTS (
        SELECT 1
        FROM jobs
        WHERE queue = :queue
            AND state = 'pending'
            AND scheduled = 0
            AND ready_at <= :now
            AND (deadline IS NULL OR deadline > :now)
    ),
    (SELECT min(ready_at) FROM jobs WHERE queue = :queue AND state = 'pending' AND scheduled = 1)
