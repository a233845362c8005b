-- Pending jobs in push order. Their state stands there because SQLite reads the job itself where an
-- index has not all columns that are asked about, even one that its own condition answers.
-- `scheduled >= 0` holds for all of them, but SQLite uses the index only for statements that say so:
-- those of other versions keep their plans.
CREATE INDEX waiting ON jobs (scheduled, state)
    WHERE state = 'pending' AND scheduled >= 0;
