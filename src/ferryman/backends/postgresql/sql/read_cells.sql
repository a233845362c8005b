-- The live cells whose key starts with a prefix, by key.
SELECT key, value, version, expires_at
FROM {schema}.cells
WHERE key >= %(prefix)s
    AND starts_with(key, %(prefix)s)
    AND value IS NOT NULL
    AND (
        expires_at IS NULL
        OR expires_at > coalesce(
            %(now)s, extract(epoch FROM clock_timestamp())::double precision
        )
    )
ORDER BY key
