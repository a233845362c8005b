-- Accepts one message of a tenant, unless a job has its id; if it is due, it gets its turn.
INSERT OR IGNORE INTO jobs (
    id, queue, task, version, priority, max_attempts, body, created_at, ready_at, scheduled,
    timeout, key, backoff, correlation_id, meta, deadline, tenant, tenant_turn, state
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,
    nullif(?11, -1), nullif(?12, ''), nullif(?13, ''), nullif(?14, ''), nullif(?15, ''),
    nullif(?16, -1), ?17,
    CASE
        WHEN ?10 THEN 0
        ELSE 1 + max(
            coalesce((SELECT turn FROM turns WHERE turns.queue = ?2 AND turns.priority = ?5), 0),
            coalesce(
                (
                    SELECT max(mine.tenant_turn)
                    FROM jobs AS mine
                    WHERE mine.queue = ?2
                        AND mine.tenant = ?17
                        AND mine.tenant IS NOT NULL
                        AND mine.priority = ?5
                        AND mine.state = 'pending'
                ),
                0
            )
        )
    END,
    'pending'
)
