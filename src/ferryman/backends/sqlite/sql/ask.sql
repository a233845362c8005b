-- Leaves word for the worker of a running job; a cancel is never taken back by a pause.
UPDATE jobs SET asked = :asked WHERE seq = :seq AND asked IS NOT 'cancel'
