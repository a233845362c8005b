-- Makes a job findable by one of its meta values.
INSERT OR IGNORE INTO meta (name, value, seq) SELECT ?, ?, seq FROM jobs WHERE id = ?
