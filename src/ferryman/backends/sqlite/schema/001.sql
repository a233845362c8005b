-- One table holds every job; the indexes are partial, so that history weighs on no verb.
-- Times are seconds since the epoch. Wide columns come last: reaching a narrow one stays cheap.
-- `tenant_turn` is a ready job's place among the tenants of its queue and priority, 0 without a tenant
-- and while it is not ready.
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

-- Lists of finished jobs by queue, task and state, newest first, however rare they are; an entry is
-- written once, when a job ends. And jobs by the id that they share with others.
CREATE INDEX ended ON jobs (queue, task, state)
    WHERE state = 'completed' OR state = 'failed' OR state = 'cancelled';

CREATE INDEX correlations ON jobs (correlation_id)
    WHERE correlation_id IS NOT NULL;

-- Pending jobs in push order. Their state stands there because SQLite reads the job itself where an
-- index has not all columns that are asked about, even one that its own condition answers.
-- `scheduled >= 0` holds for all of them, but SQLite uses the index only for statements that say so:
-- the others keep their plans.
CREATE INDEX waiting ON jobs (scheduled, state)
    WHERE state = 'pending' AND scheduled >= 0;

CREATE TABLE meta (
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (name, value, seq)
) WITHOUT ROWID;

CREATE TABLE errors (
    number INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    at REAL NOT NULL,
    worker TEXT,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    traceback TEXT
);

CREATE INDEX errors_of_job ON errors (seq);

CREATE TABLE logs (
    number INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    at REAL NOT NULL,
    text TEXT NOT NULL
);

CREATE INDEX logs_of_job ON logs (seq);

-- Maintained by the verbs; `state` is one of the six, or 'scheduled' for the pending ones not due.
CREATE TABLE counts (
    queue TEXT NOT NULL,
    state TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (queue, state)
) WITHOUT ROWID;

-- The latest turn of which a job was claimed.
CREATE TABLE turns (
    queue TEXT NOT NULL,
    priority INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    PRIMARY KEY (queue, priority)
) WITHOUT ROWID;

CREATE TABLE paused_queues (
    queue TEXT PRIMARY KEY
) WITHOUT ROWID;

-- A value of NULL is a deleted cell: its version must go on growing.
CREATE TABLE cells (
    key TEXT PRIMARY KEY,
    value TEXT,
    version INTEGER NOT NULL,
    expires_at REAL
) WITHOUT ROWID;
