-- Jobs that match, newest push first.
SELECT {job}
FROM jobs
WHERE {narrow} AND {where} AND seq < ? AND seq >= ?
ORDER BY seq DESC
LIMIT ?
