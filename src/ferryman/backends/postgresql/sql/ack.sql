-- Completes claims that nobody asked to stop; the ids of those that were not such claims.
SELECT {schema}.ack(%(ids)s, %(fences)s, %(worker)s, %(results)s, %(now)s)
