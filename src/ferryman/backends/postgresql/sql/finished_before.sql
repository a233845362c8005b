-- Jobs that ended in these states before a moment, oldest first, but for those of runs to spare.
SELECT seq
FROM {schema}.history
WHERE state = ANY (%(states)s) AND finished_at < %(before)s AND (
    cardinality(%(spared)s::text[]) = 0
    OR coalesce(meta::jsonb ->> 'run', '') <> ALL (%(spared)s::text[])
)
ORDER BY finished_at, seq
LIMIT %(limit)s
FOR UPDATE SKIP LOCKED
