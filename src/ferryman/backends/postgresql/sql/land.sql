-- Ends a claim: the job goes where the lifecycle says.
UPDATE {schema}.jobs
SET state = %(state)s,
    scheduled = %(scheduled)s,
    tenant_turn = CASE WHEN %(state)s = 'pending' AND NOT %(scheduled)s THEN tenant_turn ELSE 0 END,
    ready_at = coalesce(%(ready_at)s, ready_at),
    finished_at = %(finished_at)s,
    attempts = %(attempts)s,
    given_back = %(given_back)s,
    worker = CASE WHEN %(finished_at)s::double precision IS NULL THEN NULL ELSE worker END,
    heartbeat_at = NULL,
    expires_at = NULL,
    asked = NULL,
    settled = %(settled)s,
    result = coalesce(%(result)s, result),
    percent = coalesce(%(percent)s, percent),
    note = coalesce(%(note)s, note),
    error = coalesce(%(error)s, error)
WHERE seq = %(seq)s
