-- A worker's claims from the polls up to a turn.
SELECT {claim}
FROM jobs INDEXED BY leases
WHERE state = 'processing' AND worker = :worker AND turn <= :turn
