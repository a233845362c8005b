-- The newest scheduled jobs of a queue that match.
SELECT seq
FROM jobs INDEXED BY scheduled
WHERE state = 'pending' AND scheduled = 1 AND queue = ? AND {where} AND seq < ?
ORDER BY seq DESC
LIMIT ?
