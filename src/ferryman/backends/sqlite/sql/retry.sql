-- Gives a finished job a new budget and a new generation.
UPDATE jobs
SET state = 'pending',
    scheduled = 0,
    tenant_turn = 0,
    ready_at = :now,
    generation = generation + 1,
    attempts = 0,
    given_back = 0,
    finished_at = NULL,
    deadline = NULL,
    worker = NULL,
    result = NULL,
    percent = NULL,
    note = NULL
WHERE seq = :seq
