-- One job with its errors and logs, from one look at all tables.
SELECT
    {job},
    (
        SELECT json_agg(
            json_build_array(attempt, at, worker, kind, text, traceback) ORDER BY number
        )::text
        FROM {schema}.errors
        WHERE errors.seq = found.seq
    ),
    (
        SELECT json_agg(json_build_array(at, text) ORDER BY number)::text
        FROM {schema}.logs
        WHERE logs.seq = found.seq
    )
FROM (
    SELECT * FROM {schema}.jobs WHERE id = %(id)s
    UNION ALL
    SELECT * FROM {schema}.history WHERE id = %(id)s
) AS found
