-- How many pending jobs a queue has, due or not.
SELECT n FROM counts WHERE queue = :queue AND state = 'pending'
