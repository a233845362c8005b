-- Prolongs claims that are still the current ones of their jobs, and stores what they report.
SELECT id, fence, seq, asked
FROM {schema}.heartbeat(
    %(worker)s, %(ids)s, %(fences)s, %(percents)s, %(notes)s, %(checkpoints)s, %(now)s,
    %(expires_at)s
)
