-- Makes all who wait look for jobs, as soon as this is committed; not while a listener of any program
-- that sleeps in a transaction fills up the server's queue of notices, for then a commit would fail.
SELECT pg_notify({channel}, '') WHERE pg_notification_queue_usage() < 0.5
