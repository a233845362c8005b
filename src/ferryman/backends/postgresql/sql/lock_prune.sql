-- Waits for the prunes that are under way, and lets none begin until the commit.
SELECT pg_advisory_xact_lock({prune_lock})
