-- Allows claims from a queue.
DELETE FROM {schema}.paused_queues WHERE queue = %(queue)s
