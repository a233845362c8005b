-- Appends to a job's errors.
INSERT INTO {schema}.errors (seq, attempt, at, worker, kind, text, traceback)
VALUES (%s, %s, %s, %s, %s, %s, %s)
