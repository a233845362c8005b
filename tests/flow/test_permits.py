"""Concurrency: so many live leases, over all workers."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from ferryman import Ferry, State, TaskError
from ferryman.flow.flow import Flow
from ferryman.testing import FakeClock, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ferryman import Worker


class Room:
    """Counts who is inside; holds them there until `go`."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.inside = 0
        self.most = 0
        self._lock = threading.Lock()

    @contextmanager
    def stay(self) -> Iterator[None]:
        with self._lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        try:
            self.go.wait(30)
            yield
        finally:
            with self._lock:
                self.inside -= 1


@pytest.fixture
def room() -> Iterator[Room]:
    room = Room()
    yield room
    room.go.set()


def done(ferry: Ferry) -> int:
    return ferry.backend.snapshot().count(State.COMPLETED)


def test_two_workers_run_no_more_of_a_task_than_it_allows(
    ferry: Ferry, work: Callable[..., Worker], room: Room
) -> None:
    @ferry.task(concurrency=3)
    def ask() -> None:
        with room.stay():
            pass

    ask.push_many([()] * 20)
    work(4)
    work(4)
    wait_until(lambda: room.inside == 3, what="three inside")
    counts = ferry.backend.snapshot()
    assert counts.count(State.PROCESSING) == 3
    room.go.set()
    wait_until(lambda: done(ferry) == 20, timeout=20, what="all of them")
    assert room.most == 3


def test_other_tasks_are_not_held_back(
    ferry: Ferry, work: Callable[..., Worker], room: Room
) -> None:
    @ferry.task(concurrency=1)
    def ask() -> None:
        with room.stay():
            pass

    @ferry.task()
    def other(number: int) -> int:
        return number

    ask.push_many([()] * 5)
    work(3)
    wait_until(lambda: room.inside == 1, what="one inside")
    assert [handle.result(10) for handle in other.push_many(range(20))] == [*range(20)]
    assert room.most == 1


def test_all_tasks_of_a_queue_count_for_its_concurrency(
    ferry: Ferry, work: Callable[..., Worker], room: Room
) -> None:
    ferry.limit("default", concurrency=2)

    @ferry.task()
    def one() -> None:
        with room.stay():
            pass

    @ferry.task()
    def two() -> None:
        with room.stay():
            pass

    one.push_many([()] * 3)
    two.push_many([()] * 3)
    work(4)
    wait_until(lambda: room.inside == 2, what="two inside")
    room.go.set()
    wait_until(lambda: done(ferry) == 6, timeout=20, what="all of them")
    assert room.most == 2


def test_a_worker_that_leaves_leaves_no_permit_behind(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    @ferry.task(concurrency=2)
    def ask() -> str:
        return "ok"

    worker = work(2)
    assert [handle.result(10) for handle in ask.push_many([()] * 4)] == ["ok"] * 4
    worker.join()
    (cell,) = ferry.backend.read_cells("concurrency/")
    assert cell.value == '{"limit":2,"holders":{}}'


def test_permits_are_prolonged_while_a_long_job_runs(
    ferry: Ferry, work: Callable[..., Worker], room: Room
) -> None:
    @ferry.task(concurrency=1)
    def ask() -> None:
        with room.stay():
            pass

    ask.push_many([()] * 2)
    work(lease=0.3)
    work(lease=0.3)
    wait_until(lambda: room.inside == 1, what="one inside")
    (first,) = ferry.backend.read_cells("concurrency/")
    wait_until(
        lambda: ferry.backend.read_cells("concurrency/")[0].version > first.version + 8,
        timeout=20,
        what="several leases to pass",
    )
    assert room.most == 1
    room.go.set()
    wait_until(lambda: done(ferry) == 2, timeout=20, what="both")


def test_the_permits_of_a_worker_that_died_return_when_they_expire() -> None:
    clock = FakeClock()
    with Ferry("memory://", clock=clock) as ferry:
        flow = Flow(lambda: ferry.backend, ferry.events)
        dead, alive = flow.permits("task:ask", 3, "dead"), flow.permits("task:ask", 3, "alive")
        assert dead.hold(2, 60) == 2
        assert alive.hold(3, 60) == 1
        clock.advance(61)
        assert alive.hold(3, 60) == 3
        # Frozen, not dead: its jobs run, and are counted though that is one too many.
        assert dead.hold(1, 60, least=1) == 1
        assert alive.look() == 0
        assert alive.hold(0, 60) == 0
        assert dead.look() == 2


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True])
def test_a_concurrency_that_makes_no_sense_is_refused(ferry: Ferry, wrong: int) -> None:
    with pytest.raises(TaskError, match="concurrency"):
        ferry.task(concurrency=wrong)
