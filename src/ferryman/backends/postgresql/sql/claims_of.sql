-- A worker's claims from the polls up to a turn, but for those that others hold: a handler that ends
-- its job in a transaction of its own may take its time to commit, and no heartbeat may wait for it.
SELECT {claim}
FROM {schema}.jobs
WHERE state = 'processing' AND worker = %(worker)s AND turn <= %(turn)s
ORDER BY id
FOR UPDATE SKIP LOCKED
