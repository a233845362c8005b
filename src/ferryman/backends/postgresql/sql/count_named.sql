-- How many jobs have a queue, task and state that match, by state, each line counted no further than
-- asked. A state of NULL: there are more lines than were looked at.
WITH RECURSIVE ended AS (
    (SELECT 1 AS n, queue, task, state FROM {schema}.history ORDER BY queue, task, state LIMIT 1)
    UNION ALL
    SELECT ended.n + 1, next.*
    FROM ended
    CROSS JOIN LATERAL (
        SELECT queue, task, state
        FROM {schema}.history
        WHERE (history.queue, history.task, history.state) > (ended.queue, ended.task, ended.state)
        ORDER BY queue, task, state
        LIMIT 1
    ) AS next
    WHERE ended.n < %(lines)s
), ready AS (
    (
        SELECT 1 AS n, queue, task, state
        FROM {schema}.jobs
        WHERE state = 'pending' AND NOT scheduled
        ORDER BY queue, task
        LIMIT 1
    )
    UNION ALL
    SELECT ready.n + 1, next.*
    FROM ready
    CROSS JOIN LATERAL (
        SELECT queue, task, state
        FROM {schema}.jobs
        WHERE state = 'pending'
            AND NOT scheduled
            AND (jobs.queue, jobs.task) > (ready.queue, ready.task)
        ORDER BY queue, task
        LIMIT 1
    ) AS next
    WHERE ready.n < %(lines)s
)
SELECT line.state, counted.n
FROM (SELECT * FROM ended WHERE {where}) AS line
CROSS JOIN LATERAL (
    SELECT count(*) AS n
    FROM (
        SELECT
        FROM {schema}.history
        WHERE history.queue = line.queue
            AND history.task = line.task
            AND history.state = line.state
        LIMIT %(most)s
    ) AS few
) AS counted
UNION ALL
SELECT line.state, counted.n
FROM (SELECT * FROM ready WHERE {where}) AS line
CROSS JOIN LATERAL (
    SELECT count(*) AS n
    FROM (
        SELECT
        FROM {schema}.jobs
        WHERE jobs.queue = line.queue
            AND jobs.task = line.task
            AND jobs.state = 'pending'
            AND NOT scheduled
        LIMIT %(most)s
    ) AS few
) AS counted
UNION ALL
SELECT state, count(*)
FROM {schema}.jobs
WHERE state = 'pending' AND scheduled AND {where}
GROUP BY state
UNION ALL
SELECT state, count(*)
FROM {schema}.jobs
WHERE state = 'processing' AND {where}
GROUP BY state
UNION ALL
SELECT state, count(*)
FROM {schema}.jobs
WHERE state = 'paused' AND {where}
GROUP BY state
UNION ALL
SELECT NULL, 0
WHERE %(lines)s IN (SELECT n FROM ended UNION ALL SELECT n FROM ready)
