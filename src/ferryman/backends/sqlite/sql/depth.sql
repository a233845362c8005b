-- How many pending jobs a queue has, due or not, up to a number.
SELECT min(:most, coalesce(sum(n), 0)) FROM counts WHERE queue = :queue AND state = 'pending'
