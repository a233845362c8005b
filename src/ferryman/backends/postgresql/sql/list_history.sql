-- Finished jobs that may match, newest push first.
SELECT {job}
FROM {schema}.history
WHERE {where} AND seq < %s AND seq >= %s
ORDER BY {order} DESC
LIMIT %s
