"""What the SQL backends share: statements in files, rows as jobs, filters as WHERE clauses."""
