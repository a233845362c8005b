-- A job's latest claim, as far as its end must know it; its row is locked.
SELECT {claim} FROM {schema}.jobs WHERE id = %(id)s FOR UPDATE
