-- Pending jobs in push order. Their state stands there because SQLite reads the job itself where an
-- index has not all columns that are asked about, even one that its own condition answers.
CREATE INDEX waiting ON jobs (scheduled, state)
    WHERE state = 'pending';
