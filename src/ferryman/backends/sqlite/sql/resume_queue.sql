-- Allows claims from a queue.
DELETE FROM paused_queues WHERE queue = :queue
