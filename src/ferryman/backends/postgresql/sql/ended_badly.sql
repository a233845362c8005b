-- How many jobs failed or were cancelled since a moment, counted up to a limit.
SELECT count(*)
FROM (
    SELECT
    FROM {schema}.history
    WHERE (state = 'failed' OR state = 'cancelled')
        AND state = ANY (%(states)s)
        AND finished_at > %(since)s
    LIMIT %(limit)s
) AS few
