-- Puts a paused job back in line, ready as it was.
UPDATE {schema}.jobs SET state = 'pending', scheduled = %(scheduled)s WHERE seq = %(seq)s
