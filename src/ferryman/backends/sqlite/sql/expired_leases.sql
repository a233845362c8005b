-- Claims whose lease has run out, oldest first.
SELECT {claim}
FROM jobs
WHERE state = 'processing' AND expires_at <= :now
ORDER BY expires_at
LIMIT :limit
