-- Keeps a job's newest log lines.
DELETE FROM logs
WHERE seq = :seq
    AND number <= (
        SELECT number FROM logs WHERE seq = :seq ORDER BY number DESC LIMIT 1 OFFSET :keep
    )
