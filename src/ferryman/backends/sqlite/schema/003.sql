-- Lists by queue, task and state, newest first, however rare such jobs are and however long the line
-- of those that wait. And jobs by the id that they share with others.
--
-- The last condition of the first always holds: only a statement that repeats it may use this index,
-- or the planner would take it for polls.
CREATE INDEX waiting ON jobs (queue, task)
    WHERE state = 'pending' AND fence >= 0;

CREATE INDEX ended ON jobs (queue, task, state)
    WHERE state = 'completed' OR state = 'failed' OR state = 'cancelled';

CREATE INDEX correlations ON jobs (correlation_id)
    WHERE correlation_id IS NOT NULL;
