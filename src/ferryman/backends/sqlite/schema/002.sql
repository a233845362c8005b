-- Tenants: `tenant_turn` is a ready job's place among the tenants of its queue and priority, 0 without
-- a tenant and while it is not ready. The table is made anew, because a column that follows the wide
-- ones is far to reach, and every change of a job looks at these two.
CREATE TEMP TABLE jobs_of_version_1 AS SELECT * FROM main.jobs;

DROP TABLE main.jobs;

CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    queue TEXT NOT NULL,
    task TEXT NOT NULL,
    state TEXT NOT NULL,
    scheduled INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    ready_at REAL NOT NULL,
    version INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    max_attempts INTEGER NOT NULL,
    fence INTEGER NOT NULL DEFAULT 0,
    generation INTEGER NOT NULL DEFAULT 1,
    given_back INTEGER NOT NULL DEFAULT 0,
    created_at REAL NOT NULL,
    started_at REAL,
    finished_at REAL,
    deadline REAL,
    worker TEXT,
    turn INTEGER,
    tenant TEXT,
    tenant_turn INTEGER NOT NULL DEFAULT 0,
    heartbeat_at REAL,
    expires_at REAL,
    asked TEXT,
    settled TEXT,
    key TEXT,
    backoff TEXT,
    timeout REAL,
    correlation_id TEXT,
    percent REAL,
    meta TEXT,
    note TEXT,
    error TEXT,
    body TEXT NOT NULL,
    result TEXT,
    stored_checkpoint TEXT
);

INSERT INTO jobs (
    seq, id, queue, task, state, scheduled, priority, ready_at,
    version, attempts, max_attempts, fence, generation, given_back, created_at, started_at,
    finished_at, deadline, worker, turn, heartbeat_at, expires_at, asked, settled,
    key, backoff, timeout, correlation_id, percent, meta, note, error,
    body, result, stored_checkpoint
)
SELECT
    seq, id, queue, task, state, scheduled, priority, ready_at,
    version, attempts, max_attempts, fence, generation, given_back, created_at, started_at,
    finished_at, deadline, worker, turn, heartbeat_at, expires_at, asked, settled,
    key, backoff, timeout, correlation_id, percent, meta, note, error,
    body, result, stored_checkpoint
FROM temp.jobs_of_version_1;

DROP TABLE temp.jobs_of_version_1;

-- Every index ends in seq, the rowid: that is push order. Their conditions are tested at every
-- change of a job, and spelt with OR: IN with three names builds a table each time (5 µs a job).
CREATE INDEX ready ON jobs (queue, task, priority DESC, tenant_turn, ready_at)
    WHERE state = 'pending' AND scheduled = 0;

CREATE INDEX scheduled ON jobs (queue, ready_at)
    WHERE state = 'pending' AND scheduled = 1;

CREATE INDEX leases ON jobs (expires_at)
    WHERE state = 'processing';

CREATE INDEX deadlines ON jobs (deadline)
    WHERE deadline IS NOT NULL AND (state = 'pending' OR state = 'paused');

CREATE INDEX finished ON jobs (state, finished_at)
    WHERE finished_at IS NOT NULL;

CREATE INDEX set_aside ON jobs (state)
    WHERE state = 'failed' OR state = 'cancelled' OR state = 'paused';

CREATE INDEX keys ON jobs (key, queue, state, created_at)
    WHERE key IS NOT NULL;

CREATE INDEX tenants ON jobs (queue, tenant, priority, tenant_turn)
    WHERE tenant IS NOT NULL AND state = 'pending';

CREATE INDEX without_turn ON jobs (queue, ready_at)
    WHERE tenant IS NOT NULL AND state = 'pending' AND scheduled = 0 AND tenant_turn = 0;

-- The latest turn of which a job was claimed.
CREATE TABLE turns (
    queue TEXT NOT NULL,
    priority INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    PRIMARY KEY (queue, priority)
) WITHOUT ROWID;
