-- Jobs that ended in one state before a moment, oldest first, but for those of runs to spare.
SELECT finished_at, seq
FROM jobs
WHERE state = :state AND finished_at < :before AND (
    :spared IS NULL
    OR coalesce(json_extract(meta, '$.run'), '') NOT IN (SELECT value FROM json_each(:spared))
)
ORDER BY finished_at
LIMIT :limit
