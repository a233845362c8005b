"""A generated crowd is what the engine would have left: every view of it agrees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from bench.crowd import ERRORS, QUEUES, RARE, TASKS, Crowd

from ferryman import Ferry
from ferryman.filter import Filter
from ferryman.job import State
from ferryman.queue.diagnosis import Severity
from ferryman.queue.open import open_backend
from ferryman.service.doctor import examine
from ferryman.service.failures import failures
from ferryman.service.insights import Insights
from ferryman.testing.inline import drain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ferryman.job import Job
    from ferryman.queue.contract import Backend

FINISHED, WAITING = 500, 50


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'jobs.db'}"
    address: str = request.getfixturevalue("postgres_url")
    return address


@pytest.fixture
def crowd(url: str) -> Iterator[Backend]:
    told: list[str] = []
    Crowd(FINISHED, WAITING).fill(url, told.append)
    assert told[-1]
    backend = open_backend(url)
    yield backend
    backend.close()


def test_its_counts_are_those_of_its_jobs(crowd: Backend) -> None:
    jobs = _all(crowd)
    assert len(jobs) == FINISHED + WAITING
    snapshot = crowd.snapshot()
    assert set(snapshot.queues) == {*QUEUES, RARE}
    for queue, counts in snapshot.queues.items():
        own = [job for job in jobs if job.queue == queue]
        for state in State:
            assert counts.states.get(state, 0) == sum(job.state is state for job in own)
        later = [job for job in own if job.state is State.PENDING and job.ready_at > snapshot.at]
        assert counts.scheduled == len(later)
    assert sum(job.state.terminal for job in jobs) == FINISHED


def test_its_jobs_are_found_by_what_they_hold(crowd: Backend) -> None:
    for job in _all(crowd)[::50]:
        whole = crowd.get(job.id)
        assert whole is not None
        assert whole.task in {f"{job.queue}.{task}" for task in TASKS}
        assert (whole.error is not None) is (whole.state is State.FAILED) is bool(whole.errors)
        assert (whole.finished_at is not None) is whole.state.terminal
        assert _found(crowd, f"id:{job.id}") == [job.id]
        if job.key is not None:
            assert job.id in _found(crowd, f"key:{job.key}")
        if job.meta:
            assert job.id in _found(crowd, f"meta.user_id:{job.meta['user_id']}")
        if job.correlation_id is not None:
            assert job.id in _found(crowd, f"correlation_id:{job.correlation_id}")


def test_its_failures_history_and_health_agree_with_it(crowd: Backend) -> None:
    jobs = _all(crowd)
    found = failures(crowd, Insights(crowd))
    failed = [job for job in jobs if job.state is State.FAILED]
    assert sum(group.count for group in found.groups) == len(failed) > 0
    assert {group.kind for group in found.groups} <= {kind for kind, _ in ERRORS}
    now = crowd.clock.now()
    recent = [j for j in jobs if j.worker and (j.finished_at or 0) > now - 23 * 3_600]
    ended = [bucket.ended.counts for bucket in Insights(crowd).history(hours=24)]
    assert sum(counts.total() for counts in ended) >= len(recent) > 0
    wrong = [one.check for one in examine(crowd) if one.severity is Severity.PROBLEM]
    # Jobs wait and nobody is there yet; the tests' server syncs nothing.
    assert set(wrong) - {"durability"} == {"workers"}


def test_a_worker_drains_what_waits_and_pushes_go_on_after_it(url: str, crowd: Backend) -> None:
    ready = sum(counts.ready for counts in crowd.snapshot().queues.values())
    with Ferry(url) as ferry:
        for queue in QUEUES:
            for task in TASKS:
                ferry.task(name=f"{queue}.{task}", queue=queue)(_nothing)
        job = ferry.push("mail.send", {"i": 1})
        assert drain(ferry) == {State.COMPLETED: ready + 1}
        done = crowd.get(job.id)
        assert done is not None
        assert done.state is State.COMPLETED
        assert done.seq > FINISHED + WAITING
    assert all(counts.ready == 0 for counts in crowd.snapshot().queues.values())


def _nothing(_payload: dict) -> None:  # type: ignore[type-arg]
    pass


def _all(backend: Backend) -> list[Job]:
    return list(backend.list(Filter(), limit=1_000).jobs)


def _found(backend: Backend, where: str) -> list[str]:
    return [job.id for job in backend.list(Filter.parse(where), limit=1_000).jobs]
