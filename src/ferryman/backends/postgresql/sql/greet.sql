-- The server's time, and which of its processes answers.
SELECT extract(epoch FROM clock_timestamp())::double precision, pg_backend_pid()
