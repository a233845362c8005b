-- The newest job with a message's key that the message's `unique` looks at.
SELECT {known}
FROM jobs
WHERE key = :key
    AND queue = :queue
    AND state IN (SELECT value FROM json_each(:states))
    AND created_at > :since
ORDER BY seq DESC
LIMIT 1
