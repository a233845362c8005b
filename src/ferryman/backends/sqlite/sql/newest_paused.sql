-- The newest paused jobs that match.
SELECT seq
FROM jobs INDEXED BY set_aside
WHERE (state = 'failed' OR state = 'cancelled' OR state = 'paused')
    AND state = 'paused'
    AND {where}
    AND seq < ?
ORDER BY seq DESC
LIMIT ?
