-- The job that has an id, from one look at both tables.
SELECT {known} FROM {schema}.jobs WHERE id = %(id)s
UNION ALL
SELECT {known} FROM {schema}.history WHERE id = %(id)s
