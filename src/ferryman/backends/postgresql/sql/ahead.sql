-- Whether one of the queues has a job to claim, and in how many seconds the next one is due.
SELECT ready, due FROM {schema}.ahead(%(queues)s, %(now)s)
