-- Moves a job back from history.
WITH gone AS (
    DELETE FROM {schema}.history WHERE seq = %(seq)s RETURNING *
)
INSERT INTO {schema}.jobs SELECT * FROM gone
