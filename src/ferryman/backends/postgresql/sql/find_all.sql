-- The jobs that have these ids, each in a line.
SELECT {known} FROM {schema}.find_all(%(ids)s)
