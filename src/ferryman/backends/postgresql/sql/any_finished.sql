-- Whether a finished job has one of these ids.
SELECT FROM {schema}.history WHERE id = ANY (%(ids)s) LIMIT 1
