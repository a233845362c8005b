-- The ids that were pushed after a seq.
SELECT id FROM jobs WHERE seq > :seq
