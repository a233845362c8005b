-- The newest job with a message's key that the message's `unique` looks at.
SELECT {known}
FROM (
    SELECT {known}, created_at FROM {schema}.jobs WHERE key = %(key)s AND queue = %(queue)s
    UNION ALL
    SELECT {known}, created_at
    FROM {schema}.history
    WHERE key = %(key)s AND queue = %(queue)s AND created_at > %(since)s
) AS same
WHERE state = ANY (%(states)s) AND created_at > %(since)s
ORDER BY seq DESC
LIMIT 1
