-- Accepts one message, unless a job has its id; whether it did.
SELECT {schema}.accept(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
