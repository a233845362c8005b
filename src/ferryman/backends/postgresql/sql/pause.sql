-- Sets a pending job aside.
UPDATE {schema}.jobs SET state = 'paused', scheduled = false, tenant_turn = 0 WHERE seq = %(seq)s
