-- Appends to a job's errors.
INSERT INTO errors (seq, attempt, at, worker, kind, text, traceback) VALUES (?, ?, ?, ?, ?, ?, ?)
