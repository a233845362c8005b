-- The jobs that have these ids, from one look at both tables.
SELECT {known} FROM {schema}.jobs WHERE id = ANY (%(ids)s)
UNION ALL
SELECT {known} FROM {schema}.history WHERE id = ANY (%(ids)s)
