-- Unfinished jobs that may match, newest push first.
SELECT {job}
FROM {schema}.jobs
WHERE {where} AND seq < %s AND seq >= %s
ORDER BY {order} DESC
LIMIT %s
