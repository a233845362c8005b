-- A cell, dead or alive.
SELECT value, version, expires_at FROM {schema}.cells WHERE key = %(key)s
