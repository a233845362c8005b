-- The newest pending jobs that match, as far as from a place on.
SELECT seq
FROM jobs INDEXED BY waiting
WHERE state = 'pending'
    AND scheduled >= 0
    AND scheduled = ?
    AND {where}
    AND seq > ?
    AND seq < ?
ORDER BY seq DESC
LIMIT ?
