-- Waits for whoever pauses a queue, and lets none begin until the commit.
SELECT pg_advisory_xact_lock_shared(hashtextextended(%(queue)s, {queue_lock}))
