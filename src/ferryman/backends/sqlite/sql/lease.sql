-- Claims jobs for a worker.
UPDATE jobs
SET state = 'processing',
    fence = fence + 1,
    attempts = attempts + 1,
    worker = :worker,
    turn = :turn,
    started_at = :now,
    heartbeat_at = :now,
    expires_at = :expires_at
WHERE seq IN (SELECT value FROM json_each(:seqs))
