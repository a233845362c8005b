-- The newest of several lists of jobs, as one value.
SELECT json_group_array(seq)
FROM (SELECT seq FROM ({lists}) ORDER BY seq DESC LIMIT ?)
