-- The server's time.
SELECT extract(epoch FROM clock_timestamp())::double precision
