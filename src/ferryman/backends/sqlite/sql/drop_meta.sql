-- Forgets one meta value of a job.
DELETE FROM meta WHERE name = ? AND value = ? AND seq = ?
