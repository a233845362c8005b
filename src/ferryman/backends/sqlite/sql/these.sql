-- Jobs by their places in push order, newest first.
SELECT {job} FROM jobs WHERE seq IN (SELECT value FROM json_each(:seqs)) ORDER BY seq DESC
