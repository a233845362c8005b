-- The tasks of a queue's ready jobs, by one step through the index for each.
WITH RECURSIVE tasks (task) AS (
    SELECT min(task) FROM jobs WHERE queue = :queue AND state = 'pending' AND scheduled = 0
    UNION ALL
    SELECT (
        SELECT min(jobs.task)
        FROM jobs
        WHERE queue = :queue AND state = 'pending' AND scheduled = 0 AND jobs.task > tasks.task
    )
    FROM tasks
    WHERE task IS NOT NULL
)
SELECT task FROM tasks WHERE task IS NOT NULL
