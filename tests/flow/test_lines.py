"""One at a time for each value, in push order, whichever worker has the job."""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from ferryman import Ferry, Job, Retry, State, TaskError
from ferryman.flow.flow import Flow
from ferryman.testing import FakeClock, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman import Worker


class Witness:
    """Sees who runs: in which order, and whether two of one value ever met."""

    def __init__(self) -> None:
        self.order: dict[str, list[int]] = defaultdict(list)
        self.together = 0
        self._inside: dict[str, int] = defaultdict(int)
        self._lock = threading.Lock()

    def come(self, value: str, number: int) -> None:
        with self._lock:
            self.order[value].append(number)
            self._inside[value] += 1
            self.together = max(self.together, self._inside[value])

    def go(self, value: str) -> None:
        with self._lock:
            self._inside[value] -= 1


def done(ferry: Ferry) -> int:
    return ferry.backend.snapshot().count(State.COMPLETED)


def test_jobs_of_one_value_run_one_at_a_time_in_push_order_over_two_workers(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    witness = Witness()

    @ferry.task(concurrency=1, per="payload.user")
    def note(user: str, number: int) -> None:
        witness.come(user, number)
        witness.go(user)

    note.push_many([{"user": f"u{n % 3}", "number": n} for n in range(45)])
    work(2)
    work(2)
    wait_until(lambda: done(ferry) == 45, timeout=30, what="all jobs")
    assert witness.together == 1
    assert witness.order == {f"u{n}": [*range(n, 45, 3)] for n in range(3)}


def test_jobs_behind_a_long_one_let_others_pass(ferry: Ferry, work: Callable[..., Worker]) -> None:
    go = threading.Event()

    @ferry.task(concurrency=1, per="meta.user_id")
    def note(job: Job) -> str:
        if job.meta["user_id"] == "slow":
            go.wait(30)
        return job.meta["user_id"]

    try:
        slow = [note.using(meta={"user_id": "slow"}).push() for _ in range(5)]
        quick = note.using(meta={"user_id": "quick"}).push()
        work(2)
        assert quick.result(10) == "quick"
        assert sum(handle.status() is State.COMPLETED for handle in slow) == 0
    finally:
        go.set()
    assert [handle.result(20) for handle in slow] == ["slow"] * 5


def test_jobs_without_the_value_are_not_held_back(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    both = threading.Barrier(2, timeout=20)

    @ferry.task(concurrency=1, per="meta.user_id")
    def note() -> int:
        return both.wait()

    work(2)
    assert {handle.result(20) for handle in note.push_many([(), ()])} == {0, 1}


def test_a_drain_gives_back_who_waits_uncharged(ferry: Ferry, work: Callable[..., Worker]) -> None:
    started, go = threading.Event(), threading.Event()

    @ferry.task(concurrency=1, per="task", retry=Retry(1))
    def note() -> None:
        started.set()
        go.wait(30)

    handles = note.push_many([()] * 4)
    worker = work(3, drain=0.2)
    assert started.wait(20)
    wait_until(lambda: ferry.backend.snapshot().count(State.PROCESSING) > 1, what="others to wait")
    worker.join()
    go.set()
    assert [(h.status(), h.job().attempts) for h in handles] == [(State.PENDING, 0)] * 4


def test_a_job_that_waits_can_be_cancelled(ferry: Ferry, work: Callable[..., Worker]) -> None:
    started, go = threading.Event(), threading.Event()

    @ferry.task(concurrency=1, per="task")
    def note() -> None:
        started.set()
        go.wait(30)

    first, second = note.push_many([(), ()])
    work(2, lease=0.6)
    try:
        assert started.wait(20)
        wait_until(lambda: second.status() is State.PROCESSING, what="the second to wait")
        ferry.backend.cancel([second.id])
        assert second.wait(20).state is State.CANCELLED
    finally:
        go.set()
    assert first.wait(20).state is State.COMPLETED


def test_the_place_of_a_worker_that_died_is_free_when_it_ends() -> None:
    clock = FakeClock()
    with Ferry("memory://", clock=clock) as ferry:
        flow = Flow(lambda: ferry.backend, ferry.events)
        dead, alive = flow.lines("task:t", 1, "dead"), flow.lines("task:t", 1, "alive")
        assert dead.take_turn(60)
        assert not alive.take_turn(60)
        assert dead.join([("k", "j1:1")], 60) == {"j1:1"}
        assert alive.take_turn(60)
        assert alive.join([("k", "j2:1"), ("other", "j3:1")], 120) == {"j3:1"}
        clock.advance(61)
        assert alive.first() == {"j2:1", "j3:1"}
        assert dead.take_turn(60)
        clock.advance(61)
        assert alive.take_turn(60)


@pytest.mark.parametrize("place", ["payload.", "user", "meta", "result.user", "payload user"])
def test_a_place_that_no_job_has_is_refused(ferry: Ferry, place: str) -> None:
    with pytest.raises(TaskError, match="no place in a job"):
        ferry.task(concurrency=1, per=place)


def test_a_place_without_a_concurrency_is_refused(ferry: Ferry) -> None:
    with pytest.raises(TaskError, match="give that too"):
        ferry.task(per="payload.user")
