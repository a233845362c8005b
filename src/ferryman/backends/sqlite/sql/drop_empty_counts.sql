-- Forgets the counters of queues that are gone.
DELETE FROM counts WHERE n = 0
