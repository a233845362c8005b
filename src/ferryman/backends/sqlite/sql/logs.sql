-- A job's log, oldest line first.
SELECT at, text FROM logs WHERE seq = :seq ORDER BY number
