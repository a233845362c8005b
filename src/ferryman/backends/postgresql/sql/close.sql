-- Those of the newest unfinished jobs whose queue, task and state match.
SELECT seq
FROM (
    SELECT seq, queue, task, state
    FROM {schema}.jobs
    WHERE seq < %(before)s
    ORDER BY seq DESC
    LIMIT %(close)s
) AS close
WHERE {where}
ORDER BY seq DESC
LIMIT %(limit)s
