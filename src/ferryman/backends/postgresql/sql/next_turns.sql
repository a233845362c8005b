-- The next turn of each tenant of a queue and priority, in the order given.
SELECT {schema}.next_turn(queue, tenant, priority)
FROM unnest(%(queues)s::text[], %(tenants)s::text[], %(priorities)s::integer[])
    WITH ORDINALITY AS wanted (queue, tenant, priority, place)
ORDER BY place
