-- One job.
SELECT {job} FROM jobs WHERE id = :id
