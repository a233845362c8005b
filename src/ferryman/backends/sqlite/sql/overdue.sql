-- Whether the reaper has anything to do.
SELECT EXISTS (SELECT 1 FROM jobs WHERE state = 'processing' AND expires_at <= :now)
    OR EXISTS (
        SELECT 1
        FROM jobs
        WHERE deadline IS NOT NULL AND (state = 'pending' OR state = 'paused') AND deadline <= :now
    )
