-- Gives a ready job its turn: after its tenant's last, and after the one that was last claimed.
UPDATE jobs
SET tenant_turn = 1 + max(
    coalesce((SELECT turn FROM turns WHERE turns.queue = jobs.queue AND turns.priority = jobs.priority), 0),
    coalesce(
        (
            SELECT max(mine.tenant_turn)
            FROM jobs AS mine
            WHERE mine.queue = jobs.queue
                AND mine.tenant = jobs.tenant
                AND mine.tenant IS NOT NULL
                AND mine.priority = jobs.priority
                AND mine.state = 'pending'
        ),
        0
    )
)
WHERE seq = ?
