-- The claimed jobs, by the index of their leases.
SELECT seq FROM jobs INDEXED BY leases WHERE state = 'processing'
