-- A cell, dead or alive.
SELECT value, version, expires_at FROM cells WHERE key = :key
