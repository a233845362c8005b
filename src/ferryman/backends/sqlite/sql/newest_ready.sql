-- The newest ready jobs of a queue and task; the index alone is read, but all of that line.
SELECT seq
FROM jobs INDEXED BY ready
WHERE state = 'pending' AND scheduled = 0 AND queue = ? AND task = ? AND seq < ?
ORDER BY seq DESC
LIMIT ?
