-- Since when the oldest job in a queue's line is due, by a few steps through the indexes.
-- Jobs without a tenant: the first of each task and priority.
WITH RECURSIVE tasks (task) AS (
    SELECT min(task) FROM jobs WHERE queue = :queue AND state = 'pending' AND scheduled = 0
    UNION ALL
    SELECT (
        SELECT min(jobs.task)
        FROM jobs
        WHERE queue = :queue AND state = 'pending' AND scheduled = 0 AND jobs.task > tasks.task
    )
    FROM tasks
    WHERE task IS NOT NULL
), lines (task, priority) AS (
    SELECT task, (
        SELECT max(jobs.priority)
        FROM jobs
        WHERE queue = :queue
            AND state = 'pending'
            AND scheduled = 0
            AND jobs.task = tasks.task
    )
    FROM tasks
    WHERE task IS NOT NULL
    UNION ALL
    SELECT task, (
        SELECT max(jobs.priority)
        FROM jobs
        WHERE queue = :queue
            AND state = 'pending'
            AND scheduled = 0
            AND jobs.task = lines.task
            AND jobs.priority < lines.priority
    )
    FROM lines
    WHERE priority IS NOT NULL
),
-- Jobs with one: the first of each tenant and priority.
tenants (tenant) AS (
    SELECT min(tenant)
    FROM jobs
    WHERE queue = :queue AND tenant IS NOT NULL AND state = 'pending'
    UNION ALL
    SELECT (
        SELECT min(jobs.tenant)
        FROM jobs
        WHERE queue = :queue AND jobs.tenant > tenants.tenant AND state = 'pending'
    )
    FROM tenants
    WHERE tenant IS NOT NULL
), tenant_lines (tenant, priority) AS (
    SELECT tenant, (
        SELECT max(jobs.priority)
        FROM jobs
        WHERE queue = :queue AND jobs.tenant = tenants.tenant AND state = 'pending'
    )
    FROM tenants
    WHERE tenant IS NOT NULL
    UNION ALL
    SELECT tenant, (
        SELECT max(jobs.priority)
        FROM jobs
        WHERE queue = :queue
            AND jobs.tenant = tenant_lines.tenant
            AND state = 'pending'
            AND jobs.priority < tenant_lines.priority
    )
    FROM tenant_lines
    WHERE priority IS NOT NULL
)
SELECT min(ready_at)
FROM (
    SELECT (
        SELECT min(ready_at)
        FROM jobs
        WHERE queue = :queue
            AND jobs.task = lines.task
            AND jobs.priority = lines.priority
            AND tenant_turn = 0
            AND state = 'pending'
            AND scheduled = 0
    ) AS ready_at
    FROM lines
    UNION ALL
    SELECT (
        SELECT ready_at
        FROM jobs
        WHERE queue = :queue
            AND jobs.tenant = tenant_lines.tenant
            AND jobs.priority = tenant_lines.priority
            AND tenant_turn > 0
            AND state = 'pending'
            AND scheduled = 0
        ORDER BY tenant_turn
        LIMIT 1
    )
    FROM tenant_lines
    UNION ALL
    SELECT min(ready_at)
    FROM jobs
    WHERE queue = :queue AND state = 'pending' AND scheduled = 1
)
WHERE ready_at <= :now
