-- Prolongs claims that are still the current ones of their jobs, and stores what they report.
UPDATE {schema}.jobs
SET heartbeat_at = %(now)s,
    expires_at = %(expires_at)s,
    percent = coalesce(beat.percent, jobs.percent),
    note = coalesce(beat.note, jobs.note),
    stored_checkpoint = coalesce(beat.checkpoint, jobs.stored_checkpoint)
FROM unnest(
    %(ids)s::text[], %(fences)s::bigint[], %(percents)s::double precision[], %(notes)s::text[],
    %(checkpoints)s::text[]
) AS beat (id, fence, percent, note, checkpoint)
WHERE jobs.id = beat.id
    AND jobs.fence = beat.fence
    AND jobs.worker = %(worker)s
    AND jobs.state = 'processing'
RETURNING jobs.id, jobs.fence, jobs.seq, jobs.asked
