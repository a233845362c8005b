-- Appends to a job's log.
INSERT INTO logs (seq, at, text) VALUES (?, ?, ?)
