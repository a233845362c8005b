"""Stages joined by queues: what follows from a job, and the runs that come of it."""
