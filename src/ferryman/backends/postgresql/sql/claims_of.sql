-- A worker's claims from the polls up to a turn.
SELECT {claim}
FROM {schema}.jobs
WHERE state = 'processing' AND worker = %(worker)s AND turn <= %(turn)s
ORDER BY id
FOR UPDATE
