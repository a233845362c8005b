-- Where the connection makes views, whether the name is taken there, and by whom.
SELECT quote_ident(current_schema()), taken.oid IS NOT NULL, obj_description(taken.oid, 'pg_class')
FROM (SELECT) AS one
LEFT JOIN pg_class AS taken
    ON taken.relname = %(name)s
    AND taken.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
