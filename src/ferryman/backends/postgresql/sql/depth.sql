-- How many pending jobs a queue has, due or not, counted up to a number.
SELECT {schema}.depth(%(queue)s, %(most)s)
