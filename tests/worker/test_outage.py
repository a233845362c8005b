"""An outage never looks like an empty queue, costs no attempt, and ends by itself."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from ferryman import BackendUnavailable, Event, Ferry, Job, Retry, Settings, State, Worker
from ferryman.errors import BackendRejected
from ferryman.testing import FakeClock, wait_until
from ferryman.worker.leases import LeaseKeeper
from tests.worker.faults import Line, as_backend

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def line(ferry: Ferry) -> Line:
    return Line(ferry.backend)


@pytest.fixture
def start(ferry: Ferry, line: Line) -> Iterator[Callable[..., Worker]]:
    workers: list[Worker] = []

    def begin(**settings: float) -> Worker:
        chosen = Settings(**{"lease": 0.5, "drain": 1.0, "reap_every": 0.1, **settings})
        worker = Worker(
            as_backend(line), ferry.tasks, {"default": 2}, events=ferry.events, settings=chosen
        )
        worker.start()
        workers.append(worker)
        return worker

    yield begin
    line.down = False
    for worker in workers:
        worker.join()


def test_a_lost_poll_reply_costs_no_attempt(
    ferry: Ferry, line: Line, start: Callable[..., Worker]
) -> None:
    @ferry.task(retry=Retry(1))
    def once(job: Job) -> tuple[int, int]:
        return job.attempts, job.fence

    line.lose_reply("poll")
    handle = once.push()
    start(lease=0.6)
    assert handle.result(5) == (1, 2)
    assert handle.job().errors == ()


def test_a_poll_that_claims_after_it_was_given_up_costs_no_attempt() -> None:
    clock = FakeClock()
    with Ferry("memory://", clock=clock) as ferry:
        handle, line = ferry.push("task"), Line(ferry.backend)
        keeper = LeaseKeeper(
            as_backend(line), "w", lease=30.0, events=ferry.events, died=lambda *_: None
        )
        line.down = True
        with pytest.raises(BackendUnavailable):
            keeper.poll({"task": 1})
        line.down = False
        keeper.beat()
        # The store had the call all the same, and only now gets to it.
        [late] = ferry.backend.poll("w", {"task": 1}, lease=30.0, turn=1)
        clock.advance(10)
        keeper.beat()
        job = handle.job()
    assert (late.id, job.state, job.attempts) == (handle.id, State.PENDING, 0)


def test_a_lost_settle_reply_is_sent_again_and_answers_applied(
    ferry: Ferry, line: Line, start: Callable[..., Worker]
) -> None:
    runs: list[int] = []
    lost: list[Event] = []
    ferry.on("job.lost")(lost.append)

    @ferry.task()
    def once(job: Job) -> None:
        runs.append(job.fence)

    line.lose_reply("settle")
    start()
    assert once.push().wait(5).state is State.COMPLETED
    wait_until(lambda: line.calls["settle"] >= 2, what="the second settle")
    assert (runs, lost) == ([1], [])


def test_a_worker_that_is_stopped_in_an_outage_ends_in_order(
    ferry: Ferry, line: Line, start: Callable[..., Worker]
) -> None:
    stopped: list[Event] = []
    ferry.on("worker.stopped")(stopped.append)
    worker = start()
    line.down = True
    worker.stop()
    worker.join()
    assert [event["error"] for event in stopped] == [None]


def test_a_worker_waits_an_outage_out_and_goes_on_alone(
    ferry: Ferry, line: Line, start: Callable[..., Worker]
) -> None:
    outages: list[Event] = []
    ferry.on("backend.unavailable")(outages.append)

    @ferry.task()
    def task() -> str:
        return "done"

    line.down = True
    handle = task.push()
    worker = start()
    wait_until(lambda: len(outages) > 3, what="several failed tries")
    line.down = False
    assert handle.result(10) == "done"
    assert worker.error is None


def test_a_job_that_ends_during_an_outage_is_settled_after_it(
    ferry: Ferry, line: Line, start: Callable[..., Worker]
) -> None:
    started, go_on = threading.Event(), threading.Event()

    @ferry.task(retry=Retry(1))
    def task() -> str:
        started.set()
        go_on.wait(5)
        return "done"

    start(lease=30)
    handle = task.push()
    assert started.wait(5)
    line.down = True
    go_on.set()
    line.down = False
    assert handle.result(10) == "done"


def test_a_worker_without_heartbeats_tells_its_handlers_before_the_lease_is_over(
    ferry: Ferry, line: Line, start: Callable[..., Worker]
) -> None:
    started, told = threading.Event(), threading.Event()

    @ferry.task()
    def task(job: Job) -> None:
        started.set()
        wait_until(lambda: job.cancelled, timeout=5, what="distrust")
        told.set()

    start(lease=0.5)
    task.push()
    assert started.wait(5)
    line.down = True
    assert told.wait(5)


def test_a_worker_that_cannot_poll_for_too_long_gives_up_with_code_1(
    ferry: Ferry, line: Line
) -> None:
    @ferry.task()
    def task() -> None: ...

    line.down = True
    worker = Worker(
        as_backend(line),
        ferry.tasks,
        {"default": 1},
        events=ferry.events,
        settings=Settings(lease=1.0, drain=0.2, patience=0.5),
    )
    assert worker.run() == 1
    assert isinstance(worker.error, TimeoutError)


def test_a_store_that_refuses_for_good_ends_the_worker_with_code_1(
    ferry: Ferry, line: Line
) -> None:
    @ferry.task()
    def task() -> None: ...

    def refuse(*args: object, **kwargs: object) -> None:
        raise BackendRejected("not a Ferryman store")

    line.poll = refuse  # type: ignore[attr-defined]
    worker = Worker(as_backend(line), ferry.tasks, {"default": 1}, events=ferry.events)
    assert worker.run() == 1
    assert isinstance(worker.error, BackendRejected)


def test_a_push_during_an_outage_raises(ferry: Ferry, line: Line) -> None:
    line.down = True
    with pytest.raises(BackendUnavailable):
        as_backend(line).push([])


def test_an_end_that_the_store_chokes_on_takes_no_other_with_it(
    ferry: Ferry, line: Line, start: Callable[..., Worker]
) -> None:
    broken: list[Event] = []
    ferry.on("job.unsettled")(broken.append)

    @ferry.task()
    def task(name: str) -> str:
        return name

    real = ferry.backend.settle

    def choke(settlements: Any) -> Any:
        if any(settlement.result == '"poison"' for settlement in settlements):
            raise RuntimeError("cannot bind parameter")
        return real(settlements)

    line.settle = choke  # type: ignore[attr-defined]
    poison, *others = task.push_many(["poison", "a", "b", "c"])
    worker = start(lease=30)
    assert [other.result(5) for other in others] == ["a", "b", "c"]
    wait_until(lambda: broken, what="job.unsettled")
    assert poison.status() is State.PROCESSING
    assert worker.error is None


def test_a_bug_in_a_loop_ends_the_worker_with_code_1(ferry: Ferry, line: Line) -> None:
    @ferry.task()
    def task() -> None: ...

    def bug(*args: object, **kwargs: object) -> None:
        raise ZeroDivisionError

    line.reap = bug  # type: ignore[attr-defined]
    worker = Worker(as_backend(line), ferry.tasks, {"default": 1}, events=ferry.events)
    assert worker.run() == 1
    assert isinstance(worker.error, ZeroDivisionError)


def test_a_worker_is_ready_while_its_polls_are_answered(
    ferry: Ferry, line: Line, start: Callable[..., Worker]
) -> None:
    @ferry.task()
    def task() -> None: ...

    worker = start()
    assert worker.ready
    worker.stop()
    assert not worker.ready
