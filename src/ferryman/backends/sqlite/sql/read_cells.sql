-- The live cells whose key starts with a prefix, by key.
SELECT key, value, version, expires_at
FROM cells
WHERE key >= :prefix
    AND key < :prefix || char(0x10FFFF)
    AND value IS NOT NULL
    AND (expires_at IS NULL OR expires_at > :now)
ORDER BY key
