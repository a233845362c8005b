-- The tasks that a queue's finished jobs have, found by one step through the index each.
WITH RECURSIVE tasks (task) AS (
    SELECT min(task)
    FROM jobs INDEXED BY ended
    WHERE queue = :queue AND (state = 'completed' OR state = 'failed' OR state = 'cancelled')
    UNION ALL
    SELECT (
        SELECT min(jobs.task)
        FROM jobs INDEXED BY ended
        WHERE queue = :queue
            AND (state = 'completed' OR state = 'failed' OR state = 'cancelled')
            AND jobs.task > tasks.task
    )
    FROM tasks
    WHERE task IS NOT NULL
)
SELECT task FROM tasks WHERE task IS NOT NULL LIMIT :limit
