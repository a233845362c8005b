-- Whether one of these ids, each in a line, is that of a finished job.
SELECT FROM {schema}.history WHERE id = ANY (string_to_array(%(ids)s, E'\n')) LIMIT 1
