-- Keeps the newest error's text with the job, where lists and filters read it.
UPDATE jobs SET error = :text WHERE seq = :seq
