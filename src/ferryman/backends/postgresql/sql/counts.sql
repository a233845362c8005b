-- How many jobs there are by queue and state, how many of the pending ones are not due, and since
-- when the oldest of the others is.
-- One part for each index that holds such jobs, so that none but the index is read. What asks for
-- the process is not shared out: three of them would take longer than one, and every core.
WITH moment (now) AS MATERIALIZED (
    SELECT coalesce(%(now)s, extract(epoch FROM clock_timestamp())::double precision)
)
SELECT queue, 'pending', count(*), 0, min(ready_at)
FROM {schema}.jobs
WHERE state = 'pending' AND NOT scheduled AND fence >= 0 AND pg_backend_pid() > 0
GROUP BY queue
UNION ALL
SELECT
    queue,
    'pending',
    count(*),
    count(*) FILTER (WHERE ready_at > (SELECT now FROM moment)),
    min(ready_at) FILTER (WHERE ready_at <= (SELECT now FROM moment))
FROM {schema}.jobs
WHERE state = 'pending' AND scheduled
GROUP BY queue
UNION ALL
SELECT queue, 'processing', count(*), 0, NULL
FROM {schema}.jobs
WHERE state = 'processing'
GROUP BY queue
UNION ALL
SELECT queue, 'paused', count(*), 0, NULL
FROM {schema}.jobs
WHERE state = 'paused'
GROUP BY queue
UNION ALL
SELECT queue, state, sum(n)::bigint, 0, NULL
FROM {schema}.counts
GROUP BY queue, state
UNION ALL
SELECT queue, 'queue', 0, 0, NULL
FROM {schema}.paused_queues
UNION ALL
SELECT NULL, now::text, 0, 0, NULL
FROM moment
