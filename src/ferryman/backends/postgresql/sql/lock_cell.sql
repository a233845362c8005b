-- Keeps others from writing a cell until the commit, whether it exists or not.
SELECT pg_advisory_xact_lock(hashtextextended(%(key)s, {cell_lock}))
