-- The newest claimed jobs that match.
SELECT seq
FROM jobs INDEXED BY leases
WHERE state = 'processing' AND {where} AND seq < ?
ORDER BY seq DESC
LIMIT ?
