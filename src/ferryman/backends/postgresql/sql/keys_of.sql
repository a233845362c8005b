-- The keys of finished jobs, with their queues.
SELECT queue, key FROM {schema}.history WHERE id = ANY (%(ids)s) AND key IS NOT NULL
