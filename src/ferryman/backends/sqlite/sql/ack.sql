-- Completes a claim that nobody asked to stop.
UPDATE jobs
SET state = 'completed',
    result = ?,
    finished_at = ?,
    settled = fence || ':' || worker || ':ack',
    heartbeat_at = NULL,
    expires_at = NULL
WHERE id = ? AND fence = ? AND worker = ? AND queue = ? AND state = 'processing' AND asked IS NULL
