-- The last claim of a finished job.
SELECT {claim} FROM {schema}.history WHERE id = %(id)s
