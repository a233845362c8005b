-- How many jobs ended in these states that belong to runs to spare.
SELECT count(*)
FROM meta JOIN jobs USING (seq)
WHERE meta.name = 'run'
    AND meta.value IN (SELECT value FROM json_each(:spared))
    AND jobs.state IN (SELECT value FROM json_each(:states))
