-- Accepts one message of a tenant, unless a job has its id; whether it did.
SELECT {schema}.accept_in_turn(
    %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s
)
