-- Completes a claim that nobody asked to stop. No result comes as '', like in push.
UPDATE jobs
SET state = 'completed',
    result = nullif(?, ''),
    finished_at = ?,
    settled = fence || ':' || worker || ':ack',
    heartbeat_at = NULL,
    expires_at = NULL
WHERE id = ? AND fence = ? AND worker = ? AND queue = ? AND state = 'processing' AND asked IS NULL
