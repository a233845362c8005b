-- Accepts one message without extras, unless a job has its id; whether it did.
SELECT {schema}.accept(
    %s, %s, %s, %s, %s, %s, %s, 0, NULL, NULL, NULL, NULL, %s, NULL, NULL, %s, %s
)
