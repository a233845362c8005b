-- The pending jobs, by the index that holds them.
SELECT seq FROM jobs INDEXED BY waiting WHERE state = 'pending' AND scheduled >= 0
