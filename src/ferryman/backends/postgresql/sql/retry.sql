-- Gives a finished job a new budget and a new generation.
UPDATE {schema}.jobs
SET state = 'pending',
    scheduled = false,
    tenant_turn = CASE
        WHEN tenant IS NULL THEN 0
        ELSE {schema}.next_turn(queue, tenant, priority)
    END,
    ready_at = %(now)s,
    generation = generation + 1,
    attempts = 0,
    given_back = 0,
    finished_at = NULL,
    deadline = NULL,
    worker = NULL,
    result = NULL,
    percent = NULL,
    note = NULL
WHERE seq = %(seq)s
