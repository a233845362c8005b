-- The place of the pending job that so many newer ones stand before.
SELECT seq
FROM jobs INDEXED BY waiting
WHERE state = 'pending' AND scheduled >= 0 AND scheduled = ? AND seq < ?
ORDER BY seq DESC
LIMIT 1 OFFSET ?
