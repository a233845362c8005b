-- Ends a claim: the job goes where the lifecycle says.
UPDATE jobs
SET state = :state,
    scheduled = :scheduled,
    tenant_turn = CASE WHEN :state = 'pending' AND NOT :scheduled THEN tenant_turn ELSE 0 END,
    ready_at = coalesce(:ready_at, ready_at),
    finished_at = :finished_at,
    attempts = :attempts,
    given_back = :given_back,
    worker = CASE WHEN :finished_at IS NULL THEN NULL ELSE worker END,
    heartbeat_at = NULL,
    expires_at = NULL,
    asked = NULL,
    settled = :settled,
    result = coalesce(:result, result),
    percent = coalesce(:percent, percent),
    note = coalesce(:note, note)
WHERE seq = :seq
