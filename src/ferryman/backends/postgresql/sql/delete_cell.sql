-- Empties a cell; its row stays, because its version must go on growing.
UPDATE {schema}.cells SET value = NULL, expires_at = NULL WHERE key = %(key)s
