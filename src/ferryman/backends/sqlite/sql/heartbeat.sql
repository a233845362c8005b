-- Prolongs a claim that is still the job's current one, and stores what it reports.
UPDATE jobs
SET heartbeat_at = :now,
    expires_at = :expires_at,
    percent = coalesce(:percent, percent),
    note = coalesce(:note, note),
    stored_checkpoint = coalesce(:checkpoint, stored_checkpoint)
WHERE id = :id AND fence = :fence AND worker = :worker AND state = 'processing'
RETURNING seq, asked
