-- Forgets the logs of jobs.
DELETE FROM {schema}.logs WHERE seq = ANY (%(seqs)s)
