-- Accepts one message without options, unless a job has its id; whether it did.
SELECT {schema}.accept(
    %s, %s, %s, %s, %s, %s, %s, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, %s, %s
)
