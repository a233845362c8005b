-- The newest jobs of a state that is set aside, of those that match.
SELECT seq
FROM jobs INDEXED BY set_aside
WHERE (state = 'failed' OR state = 'cancelled' OR state = 'paused')
    AND state = ?
    AND {where}
    AND seq < ?
ORDER BY seq DESC
LIMIT ?
