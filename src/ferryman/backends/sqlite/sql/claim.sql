-- A job's latest claim, as far as its end must know it.
SELECT {claim} FROM jobs WHERE id = :id
