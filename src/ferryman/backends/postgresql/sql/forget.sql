-- Forgets unfinished jobs.
DELETE FROM {schema}.jobs WHERE seq = ANY (%(seqs)s)
