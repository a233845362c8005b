-- Where the jobs stand that failed or were cancelled since a moment.
SELECT seq
FROM {schema}.history
WHERE (state = 'failed' OR state = 'cancelled')
    AND state = ANY (%(states)s)
    AND finished_at > %(since)s
LIMIT %(limit)s
