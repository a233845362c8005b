-- Jobs by their places in push order, newest first.
SELECT {job} FROM {schema}.jobs WHERE seq = ANY (%(seqs)s)
UNION ALL
SELECT {job} FROM {schema}.history WHERE seq = ANY (%(seqs)s)
ORDER BY seq DESC
