-- Forgets the errors of jobs.
DELETE FROM {schema}.errors WHERE seq = ANY (%(seqs)s)
