-- Puts a paused job back in line, ready as it was.
UPDATE jobs SET state = 'pending', scheduled = :scheduled WHERE seq = :seq
