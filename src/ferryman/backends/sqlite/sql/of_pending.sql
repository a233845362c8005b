-- The pending jobs, by the indexes that hold them.
SELECT seq FROM jobs WHERE state = 'pending' AND scheduled = 0
UNION ALL
SELECT seq FROM jobs WHERE state = 'pending' AND scheduled = 1
