-- A job's errors, oldest first.
SELECT attempt, at, worker, kind, text, traceback FROM errors WHERE seq = :seq ORDER BY number
