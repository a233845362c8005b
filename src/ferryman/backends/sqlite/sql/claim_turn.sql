-- Remembers the latest turn of a queue and priority of which a job was claimed.
INSERT INTO turns (queue, priority, turn) VALUES (?, ?, ?)
ON CONFLICT (queue, priority) DO UPDATE SET turn = excluded.turn WHERE excluded.turn > turns.turn
