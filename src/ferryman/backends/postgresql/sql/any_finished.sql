-- Whether one of these ids, each in a line, is that of a finished job.
SELECT {schema}.any_finished(%(ids)s)
