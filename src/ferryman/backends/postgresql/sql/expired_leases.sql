-- Claims whose lease has run out, oldest first.
SELECT {claim}
FROM {schema}.jobs
WHERE state = 'processing' AND expires_at <= %(now)s
ORDER BY expires_at
LIMIT %(limit)s
FOR UPDATE SKIP LOCKED
