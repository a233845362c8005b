-- Stops claims from a queue.
INSERT INTO {schema}.paused_queues (queue) VALUES (%(queue)s) ON CONFLICT DO NOTHING
