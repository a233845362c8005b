-- How many jobs ended in these states.
SELECT coalesce(sum(n), 0)::bigint FROM {schema}.counts WHERE state = ANY (%(states)s)
