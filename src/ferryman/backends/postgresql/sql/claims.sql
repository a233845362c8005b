-- The latest claims of jobs; their rows are locked, in the order of their ids.
SELECT {claim} FROM {schema}.jobs WHERE id = ANY (%(ids)s) ORDER BY id FOR UPDATE
