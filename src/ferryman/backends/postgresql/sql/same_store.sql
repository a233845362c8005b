-- The server's time, whose tables these are, and what the transaction sees of others.
SELECT
    extract(epoch FROM clock_timestamp())::double precision,
    store,
    current_setting('transaction_isolation')
FROM {schema}.about
