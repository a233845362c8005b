-- Lists of finished jobs by queue, task and state, newest first, however rare they are; an entry is
-- written once, when a job ends. And jobs by the id that they share with others.
CREATE INDEX ended ON jobs (queue, task, state)
    WHERE state = 'completed' OR state = 'failed' OR state = 'cancelled';

CREATE INDEX correlations ON jobs (correlation_id)
    WHERE correlation_id IS NOT NULL;
