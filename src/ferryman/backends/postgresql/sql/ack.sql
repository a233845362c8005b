-- Completes claims that nobody asked to stop; the ids of those that were.
SELECT {schema}.ack(%(ids)s, %(fences)s, %(workers)s, %(results)s, %(now)s)
