-- How many pending jobs a tenant of a queue has, due or not, counted up to a number.
SELECT count(*)
FROM (
    SELECT 1
    FROM jobs
    WHERE queue = :queue AND tenant = :tenant AND tenant IS NOT NULL AND state = 'pending'
    LIMIT :most
)
