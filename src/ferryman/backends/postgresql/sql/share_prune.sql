-- Waits for whoever prunes by count, and lets none begin until the commit.
SELECT pg_advisory_xact_lock_shared({prune_lock})
