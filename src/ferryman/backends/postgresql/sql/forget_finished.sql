-- Forgets finished jobs.
DELETE FROM {schema}.history WHERE seq = ANY (%(seqs)s)
