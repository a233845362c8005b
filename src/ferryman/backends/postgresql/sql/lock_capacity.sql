-- Keeps others from counting these queues before this is committed.
SELECT pg_advisory_xact_lock(hashtextextended(queue, {capacity_lock}))
FROM (SELECT queue FROM unnest(%(queues)s::text[]) AS queue ORDER BY queue) AS ordered
