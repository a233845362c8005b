-- The keys of jobs, with their queues; of unfinished ones too, for they may end before they are held.
SELECT queue, key FROM {schema}.jobs WHERE id = ANY (%(ids)s) AND key IS NOT NULL
UNION ALL
SELECT queue, key FROM {schema}.history WHERE id = ANY (%(ids)s) AND key IS NOT NULL
