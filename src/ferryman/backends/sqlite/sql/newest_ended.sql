-- The newest finished jobs of a queue, task and state.
SELECT seq
FROM jobs INDEXED BY ended
WHERE (state = 'completed' OR state = 'failed' OR state = 'cancelled')
    AND queue = ?
    AND task = ?
    AND state = ?
    AND seq < ?
ORDER BY seq DESC
LIMIT ?
