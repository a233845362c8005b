-- Replaces the rows of the counters by their sums; those that others just add are left alone.
WITH gone AS (
    DELETE FROM {schema}.counts
    WHERE ctid = ANY (ARRAY(SELECT ctid FROM {schema}.counts FOR UPDATE SKIP LOCKED))
    RETURNING queue, state, n
)
INSERT INTO {schema}.counts (queue, state, n)
SELECT queue, state, sum(n) FROM gone GROUP BY queue, state HAVING sum(n) <> 0
RETURNING n
