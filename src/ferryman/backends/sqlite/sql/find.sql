-- The job that has an id.
SELECT {known} FROM jobs WHERE id = :id
