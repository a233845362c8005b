-- Waits for the polls of a queue that are under way, and lets none begin until the commit.
SELECT pg_advisory_xact_lock(hashtextextended(%(queue)s, {queue_lock}))
