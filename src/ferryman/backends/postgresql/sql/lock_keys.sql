-- Keeps others from deciding about these keys before this is committed.
SELECT pg_advisory_xact_lock(hashtextextended(key, {key_lock}))
FROM (SELECT key FROM unnest(%(keys)s::text[]) AS key ORDER BY key) AS ordered
