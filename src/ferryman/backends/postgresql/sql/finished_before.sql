-- Jobs that ended in these states before a moment, oldest first.
SELECT seq
FROM {schema}.history
WHERE state = ANY (%(states)s) AND finished_at < %(before)s
ORDER BY finished_at, seq
LIMIT %(limit)s
FOR UPDATE SKIP LOCKED
