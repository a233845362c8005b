-- Leaves word for the worker of a running job; a cancel is never taken back by a pause.
UPDATE {schema}.jobs
SET asked = %(asked)s
WHERE seq = %(seq)s AND asked IS DISTINCT FROM 'cancel'
