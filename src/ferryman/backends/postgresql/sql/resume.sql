-- Puts a paused job back in line, ready as it was.
UPDATE {schema}.jobs
SET state = 'pending',
    scheduled = %(scheduled)s,
    tenant_turn = CASE
        WHEN tenant IS NULL OR %(scheduled)s THEN 0
        ELSE {schema}.next_turn(queue, tenant, priority)
    END
WHERE seq = %(seq)s
