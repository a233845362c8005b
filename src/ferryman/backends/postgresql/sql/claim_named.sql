-- Claims those of some jobs that a poll of their queue could claim.
WITH chosen AS MATERIALIZED (
    SELECT seq
    FROM {schema}.jobs
    WHERE id = ANY (%(ids)s)
        -- Spelt so that no index of a whole queue seems worth reading.
        AND queue || '' = %(queue)s
        AND state || '' = 'pending'
        AND ready_at <= %(now)s
        AND (deadline IS NULL OR deadline > %(now)s)
        AND task || '' <> ALL (%(skip_tasks)s)
        AND NOT EXISTS (SELECT FROM {schema}.paused_queues AS paused WHERE paused.queue = %(queue)s)
    FOR UPDATE SKIP LOCKED
)
UPDATE {schema}.jobs
SET state = 'processing',
    scheduled = false,
    fence = fence + 1,
    attempts = attempts + 1,
    worker = %(worker)s,
    turn = %(turn)s,
    started_at = %(now)s,
    heartbeat_at = %(now)s,
    expires_at = %(now)s + %(lease)s
WHERE seq = ANY (ARRAY (SELECT seq FROM chosen))
RETURNING {job}
