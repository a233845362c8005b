-- The highest seq: what is pushed from here on lies above it.
SELECT coalesce(max(seq), 0) FROM {schema}.jobs
