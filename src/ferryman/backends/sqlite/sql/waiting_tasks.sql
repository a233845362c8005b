-- The tasks that a queue's pending jobs have, found by one step through the index each.
WITH RECURSIVE tasks (task) AS (
    SELECT min(task)
    FROM jobs INDEXED BY waiting
    WHERE queue = :queue AND state = 'pending' AND fence >= 0
    UNION ALL
    SELECT (
        SELECT min(jobs.task)
        FROM jobs INDEXED BY waiting
        WHERE queue = :queue AND state = 'pending' AND fence >= 0 AND jobs.task > tasks.task
    )
    FROM tasks
    WHERE task IS NOT NULL
)
SELECT task FROM tasks WHERE task IS NOT NULL LIMIT :limit
