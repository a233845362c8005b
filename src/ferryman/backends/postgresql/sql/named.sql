-- The newest jobs whose queue, task and state match, by a few steps through the indexes for each line
-- of jobs that has all three alike. A seq of 2^62: there are more lines than were looked at.
-- In one statement: a job that moves from one table to the other meanwhile is found in one of them.
WITH RECURSIVE close AS MATERIALIZED (
    -- Those among the newest unfinished jobs.
    SELECT seq
    FROM (
        SELECT seq, queue, task, state
        FROM {schema}.jobs
        WHERE seq < %(before)s AND %(jobs)s
        ORDER BY seq DESC
        LIMIT %(close)s
    ) AS newest
    WHERE {where}
    ORDER BY seq DESC
    LIMIT %(limit)s
), unfinished AS MATERIALIZED (
    -- What fills the page already spares a look at whole lines of waiting jobs.
    SELECT %(jobs)s AND count(*) < %(limit)s AS wanted FROM close
), ended AS (
    (
        SELECT 1 AS n, queue, task, state
        FROM {schema}.history
        WHERE %(history)s
        ORDER BY queue, task, state
        LIMIT 1
    )
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
        WHERE state = 'pending' AND NOT scheduled AND (SELECT wanted FROM unfinished)
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
SELECT seq
FROM (
    SELECT seq FROM close WHERE NOT (SELECT wanted FROM unfinished)
    UNION ALL
    SELECT newest.seq
    FROM (SELECT * FROM ended WHERE {where}) AS line
    CROSS JOIN LATERAL (
        SELECT seq
        FROM {schema}.history
        WHERE history.queue = line.queue
            AND history.task = line.task
            AND history.state = line.state
            AND seq < %(before)s
        ORDER BY seq DESC
        LIMIT %(limit)s
    ) AS newest
    UNION ALL
    SELECT newest.seq
    FROM (SELECT * FROM ready WHERE {where}) AS line
    CROSS JOIN LATERAL (
        -- OFFSET keeps the planner from a walk through all that is newer: it cannot know how much.
        SELECT seq
        FROM (
            SELECT seq
            FROM {schema}.jobs
            WHERE jobs.queue = line.queue
                AND jobs.task = line.task
                AND jobs.state = 'pending'
                AND NOT scheduled
                AND seq < %(before)s
            OFFSET 0
        ) AS waiting
        ORDER BY seq DESC
        LIMIT %(limit)s
    ) AS newest
    UNION ALL
    (
        -- Each by the index that holds such jobs, and not by a walk along the primary key.
        SELECT seq
        FROM {schema}.jobs
        WHERE state = 'pending' AND scheduled AND {where} AND seq < %(before)s AND (SELECT wanted FROM unfinished)
        ORDER BY seq + 0 DESC
        LIMIT %(limit)s
    )
    UNION ALL
    (
        SELECT seq
        FROM {schema}.jobs
        WHERE state = 'processing' AND {where} AND seq < %(before)s AND (SELECT wanted FROM unfinished)
        ORDER BY seq + 0 DESC
        LIMIT %(limit)s
    )
    UNION ALL
    (
        SELECT seq
        FROM {schema}.jobs
        WHERE state = 'paused' AND {where} AND seq < %(before)s AND (SELECT wanted FROM unfinished)
        ORDER BY seq + 0 DESC
        LIMIT %(limit)s
    )
    UNION ALL
    SELECT 4611686018427387904
    WHERE %(lines)s IN (SELECT n FROM ended UNION ALL SELECT n FROM ready)
) AS found
ORDER BY seq DESC
LIMIT %(limit)s
