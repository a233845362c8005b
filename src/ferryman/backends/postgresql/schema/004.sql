-- How many pending jobs a queue has, due or not. Counted no further than asked, so that the answer
-- costs a capacity and not a backlog.
CREATE FUNCTION depth(queue text, most integer) RETURNS bigint
LANGUAGE plpgsql STABLE
SET search_path = {schema}, pg_temp
SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
BEGIN
    RETURN (
        SELECT count(*)
        FROM (
            (
                SELECT
                FROM jobs
                WHERE queue = depth.queue AND state = 'pending' AND NOT scheduled AND fence >= 0
                LIMIT most
            )
            UNION ALL
            (
                SELECT
                FROM jobs
                WHERE queue = depth.queue AND state = 'pending' AND scheduled
                LIMIT most
            )
            LIMIT most
        ) AS waiting
    );
END
$$;
