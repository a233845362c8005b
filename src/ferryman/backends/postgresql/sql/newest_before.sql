-- The highest seq below another, of the unfinished jobs and of the finished ones.
SELECT
    (SELECT coalesce(max(seq), 0) FROM {schema}.jobs WHERE seq < %(before)s),
    (SELECT coalesce(max(seq), 0) FROM {schema}.history WHERE seq < %(before)s)
