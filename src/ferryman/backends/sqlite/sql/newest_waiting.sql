-- The newest pending jobs of a queue and task.
SELECT seq
FROM jobs INDEXED BY waiting
WHERE state = 'pending' AND fence >= 0 AND queue = ? AND task = ? AND seq < ?
ORDER BY seq DESC
LIMIT ?
