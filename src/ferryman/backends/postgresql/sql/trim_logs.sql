-- Keeps a job's newest log lines.
DELETE FROM {schema}.logs
WHERE seq = %(seq)s
    AND number <= (
        SELECT number
        FROM {schema}.logs
        WHERE seq = %(seq)s
        ORDER BY number DESC
        LIMIT 1 OFFSET %(keep)s
    )
