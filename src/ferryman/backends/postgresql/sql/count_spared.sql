-- How many jobs ended in these states that belong to runs to spare.
SELECT count(*)
FROM {schema}.history
WHERE state = ANY (%(states)s) AND meta::jsonb ->> 'run' = ANY (%(spared)s::text[])
