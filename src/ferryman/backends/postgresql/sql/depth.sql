-- How many pending jobs a queue has, or a tenant of it, due or not, counted up to a number.
SELECT {schema}.depth(%(queue)s, %(tenant)s, %(most)s)
