-- Sets a pending job aside.
UPDATE {schema}.jobs SET state = 'paused', scheduled = false WHERE seq = %(seq)s
