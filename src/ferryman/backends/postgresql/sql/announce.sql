-- Wakes those who wait for jobs of these queues, as soon as this is committed.
SELECT pg_notify({channel}, queue) FROM unnest(%(queues)s::text[]) AS queue
