"""What the tests of pipelines share."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ferryman.testing import FakeClock, drain

if TYPE_CHECKING:
    from collections.abc import Collection

    from ferryman import Ferry, Run
    from ferryman.job import Job
    from ferryman.pipeline.run import RunState

from ferryman.filter import Filter


def finish(ferry: Ferry, *runs: Run, turns: int = 200) -> list[RunState]:
    """Run jobs and let time pass until every run has come to rest."""
    for _ in range(turns):
        drain(ferry, limit=100_000)
        states = [run.state() for run in runs]
        if "running" not in states:
            return states
        cast("FakeClock", ferry.backend.clock).advance(1.0)
    raise AssertionError(f"still {states} after {turns} turns: {[run.progress() for run in runs]}")


def jobs_of(ferry: Ferry, *tasks: str) -> list[Job]:
    """All jobs, or those of some tasks, in push order."""
    found = ferry.backend.list(Filter(), limit=10_000).jobs
    return [job for job in reversed(found) if not tasks or job.task in tasks]


def payloads(ferry: Ferry, task: str) -> Collection[object]:
    return sorted(job.payload for job in jobs_of(ferry, task))
