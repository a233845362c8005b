-- Sets a pending job aside.
UPDATE jobs SET state = 'paused', scheduled = 0, tenant_turn = 0 WHERE seq = :seq
