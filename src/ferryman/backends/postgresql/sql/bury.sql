-- Moves a finished job to history.
WITH gone AS (
    DELETE FROM {schema}.jobs WHERE seq = %(seq)s RETURNING *
)
INSERT INTO {schema}.history SELECT * FROM gone
