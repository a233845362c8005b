"""Jobs with all kinds of pasts, and whether they are the same in another store."""

from __future__ import annotations

from dataclasses import astuple, fields, replace
from typing import TYPE_CHECKING, Any, Final

from ferryman.filter import Filter
from ferryman.job import Job, JobError, LogLine, State
from ferryman.queue.arrival import arrive
from ferryman.testing.conformance.given import (
    ack,
    beat,
    claim,
    claimed,
    fail,
    in_state,
    nack,
    settle,
    the_job,
    tried_and_given_back,
)
from ferryman.testing.expected import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferryman.queue.contract import Backend

ALL = Filter()


def populate(store: Backend, rounds: int = 1) -> None:
    """For each round a dozen jobs of two queues with all kinds of pasts, none of them running."""
    for number in range(rounds):
        post: dict[str, Any] = {"queue": "post", "meta": {"round": str(number)}}
        for state in State:
            if state is not State.PROCESSING:
                priority = -number if state is State.PENDING else 10
                in_state(store, state, {"round": number}, **post, priority=priority)
        in_state(store, State.PENDING, {"key": number}, key=f"key-{number}")
        in_state(store, State.PENDING, "later", delay=3_600)
        store.pause([tried_and_given_back(store, priority=10)])
        settle(store, nack(claimed(store, priority=10), f"no answer {number}", delay=3_600))
        again = claimed(store, "again", priority=10, expires=600)
        settle(store, fail(again))
        store.retry([again.id])
        job = claim(store)
        beat(store, job, percent=number % 100, note="halfway", checkpoint='{"page":1}')
        settle(store, ack(job, f'"result {number}"'))


def whole(store: Backend) -> Mapping[str, Job]:
    """Every job with all that is known of it, in push order, as another store has to keep it."""
    found: list[Job] = []
    after: str | None = None
    while True:
        page = store.list(ALL, limit=500, after=after)
        found += [the_job(store, job.id) for job in page.jobs]
        if page.next is None:
            break
        after = page.next
    arrived = arrive(found[::-1], store.clock.now())
    return {job.id: replace(job, seq=0) for job in arrived}


def assert_moved(before: Mapping[str, Job], source: Backend, target: Backend) -> None:
    """Set arithmetic: every job is at the target once, as it was, in order, and nowhere else."""
    assert list(whole(source)) == []
    assert_same_jobs(whole(target), before)


def assert_same_jobs(found: Mapping[str, Job], jobs: Mapping[str, Job]) -> None:
    """The same jobs in the same order, with the same past."""
    assert list(found) == list(jobs)
    different = {
        name: (found[job_id], jobs[job_id])
        for job_id in jobs
        for name in _NAMES
        if not _alike(getattr(found[job_id], name), getattr(jobs[job_id], name))
    }
    assert different == {}


_NAMES: Final = [field.name for field in fields(Job) if field.compare]


def _alike(one: Any, other: Any) -> bool:
    """Equal, or moments that differ by less than stores need to keep."""
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= TOLERANCE
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, JobError | LogLine) and type(one) is type(other):
        return all(map(_alike, astuple(one), astuple(other)))
    return bool(one == other)
