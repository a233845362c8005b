-- Makes all who wait look for jobs, as soon as this is committed.
SELECT pg_notify({channel}, '')
