-- The jobs that have these ids, locked in the order of their ids.
WITH unfinished AS (
    SELECT {known} FROM {schema}.jobs WHERE id = ANY (%(ids)s) ORDER BY id FOR UPDATE
), finished AS (
    SELECT {known} FROM {schema}.history WHERE id = ANY (%(ids)s) ORDER BY id FOR UPDATE
)
SELECT * FROM unfinished
UNION ALL
SELECT * FROM finished
