-- Appends to a job's log.
INSERT INTO {schema}.logs (seq, at, text)
SELECT %(seq)s, at, text
FROM unnest(%(at)s::double precision[], %(texts)s::text[]) WITH ORDINALITY AS line (at, text, n)
ORDER BY n
