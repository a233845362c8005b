-- Keeps others from making the same view until the commit, whichever store they have.
SELECT pg_advisory_xact_lock(
    hashtextextended(current_schema() || '.' || %(name)s, {view_lock})
)
