-- Lists of finished jobs by queue, task and state, newest first, however rare they are. The long
-- work first: what comes after it keeps pushes and polls waiting.
CREATE INDEX ended ON history (queue, task, state, seq);

-- What went wrong lately, among all that ever did.
CREATE INDEX ended_badly ON history (state, finished_at, seq)
    WHERE state = 'failed' OR state = 'cancelled';

-- Jobs by the id that they share with others.
CREATE INDEX history_correlation ON history (correlation_id, seq)
    WHERE correlation_id IS NOT NULL;

CREATE INDEX jobs_correlation ON jobs (correlation_id, seq)
    WHERE correlation_id IS NOT NULL;

-- With what lists ask about, or a queue's few would be looked for among all rows that are paused.
DROP INDEX paused;
CREATE INDEX paused ON jobs (seq, queue, task)
    WHERE state = 'paused';
