-- The queues that nobody may claim from.
SELECT queue FROM paused_queues
