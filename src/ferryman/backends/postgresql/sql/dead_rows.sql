-- About how many rows of unfinished jobs have died and not been removed.
SELECT n_dead_tup FROM pg_stat_all_tables WHERE relid = '{schema}.jobs'::regclass
