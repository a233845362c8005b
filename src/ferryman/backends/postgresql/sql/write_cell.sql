-- Writes a cell, new or not.
INSERT INTO {schema}.cells (key, value, version, expires_at)
VALUES (%s, %s, %s, %s)
ON CONFLICT (key) DO UPDATE
SET value = excluded.value, version = excluded.version, expires_at = excluded.expires_at
