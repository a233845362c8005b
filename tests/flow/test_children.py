"""Limits of tasks whose handlers run in child processes: the worker holds them all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman import State
from ferryman.testing import wait_until
from tests.flow import children
from tests.flow.children import Refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ferryman import Ferry, Worker


@pytest.fixture
def url() -> str:
    """Where jobs are kept makes no difference to where they run."""
    return "memory://"


@pytest.fixture(autouse=True)
def declared(ferry: Ferry) -> None:
    ferry.breaker("service", threshold=2, failures=(Refused,))
    ferry.rate("busy", "100/s")
    for task in children.tasks:
        ferry.tasks.add(task)


def test_what_a_child_raises_is_told_to_the_breaker_by_its_class(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    breaker = ferry.breaker("service")
    work(1, queue="apart", lease=5.0)
    for says in ("bug", "crash"):
        assert ferry.push("call", says).wait(30).state is State.FAILED
    assert breaker.circuit().failures == 0
    refused = ferry.push("call", "no")
    wait_until(lambda: breaker.circuit().failures == 2, timeout=30, what="an open breaker")
    waits = ferry.push("call", "well")
    job = refused.job()
    assert (job.state, job.attempts, waits.status()) == (State.PENDING, 0, State.PENDING)
    ferry.backend.cancel([refused.id])
    breaker.reset()
    assert waits.wait(30).state is State.COMPLETED


def test_a_time_that_a_child_was_told_postpones_its_job_and_the_rate(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    work(1, queue="apart", lease=5.0)
    first = ferry.push("ask")
    wait_until(lambda: first.job().given_back == 1, timeout=30, what="the answer of the service")
    assert ferry.rate("busy").look()[0] == 0
    assert first.job().attempts == 0


def test_children_are_as_many_as_the_concurrency_and_the_rate_allow(
    ferry: Ferry, work: Callable[..., Worker], tmp_path: Path
) -> None:
    handles = [ferry.push("alone", str(tmp_path)) for _ in range(5)]
    work(2, queue="apart", lease=5.0)
    wait_until(
        lambda: ferry.backend.snapshot().count(State.COMPLETED) == 4,
        timeout=30,
        what="four of five",
    )
    assert [handle.result(1) for handle in handles[:4]] == [True] * 4
    assert handles[4].status() is State.PENDING
    assert ferry.flow.rate("task:alone").left() == {"4/h": 0}
