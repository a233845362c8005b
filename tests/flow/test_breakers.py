"""Breakers around handlers, and around jobs that need them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from ferryman import BreakerOpen, Fail, Ferry, Job, Retry, Snooze, State, TaskError
from ferryman.flow.circuit import Phase
from ferryman.testing import FakeClock, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ferryman import Breaker, Worker


class Service:
    """What handlers call: counts, and answers as told."""

    def __init__(self, *, down: bool = True) -> None:
        self.down = down
        self.calls = 0
        self._lock = threading.Lock()

    def call(self) -> str:
        with self._lock:
            self.calls += 1
        if self.down:
            raise PermissionError("403")
        return "ok"


def refuse(breaker: Breaker, times: int = 1) -> None:
    for _ in range(times):
        with pytest.raises(PermissionError), breaker:
            raise PermissionError("403")


def test_a_block_is_refused_once_five_in_a_row_have_failed(ferry: Ferry) -> None:
    breaker = ferry.breaker("gemini")
    refuse(breaker, 5)
    with pytest.raises(BreakerOpen, match=r"'gemini' is open after PermissionError: 403") as told:
        breaker.__enter__()
    assert 295 < told.value.retry_after <= 300


def test_a_block_that_ends_well_resets_the_count(ferry: Ferry) -> None:
    breaker = ferry.breaker("gemini")
    refuse(breaker, 4)
    with breaker:
        pass
    refuse(breaker, 4)
    assert breaker.phase() is Phase.CLOSED


@pytest.mark.parametrize("outcome", [Snooze(1), Fail("no"), KeyboardInterrupt()])
def test_what_a_handler_says_of_its_job_does_not_count(
    ferry: Ferry, outcome: BaseException
) -> None:
    breaker = ferry.breaker("gemini", threshold=1)
    with pytest.raises(type(outcome)), breaker:
        raise outcome
    assert breaker.circuit().failures == 0


def test_only_the_failures_that_were_named_count(ferry: Ferry) -> None:
    breaker = ferry.breaker("gemini", threshold=1, failures=(OSError,))
    with pytest.raises(KeyError), breaker:
        raise KeyError("a bug of ours")
    assert breaker.phase() is Phase.CLOSED
    refuse(breaker)
    assert breaker.phase() is Phase.OPEN


def test_after_the_cooldown_three_may_try_and_one_success_closes_it() -> None:
    clock = FakeClock()
    with Ferry("memory://", clock=clock) as ferry:
        breaker = ferry.breaker("gemini", threshold=1, cooldown=300)
        refuse(breaker)
        clock.advance(300)
        tried = breaker.probe(10, 60)
        assert len(tried) == 3
        with pytest.raises(BreakerOpen):
            breaker.__enter__()
        breaker.drop(tried[:1])
        with breaker:
            assert breaker.phase() is Phase.HALF_OPEN
        assert breaker.phase() is Phase.CLOSED


def test_a_probe_whose_process_died_is_not_waited_for() -> None:
    clock = FakeClock()
    with Ferry("memory://", clock=clock) as ferry:
        breaker = ferry.breaker("gemini", threshold=1, cooldown=300, probes=1)
        refuse(breaker)
        clock.advance(300)
        assert breaker.probe(1, 60)
        clock.advance(61)
        with breaker:
            pass
        assert breaker.phase() is Phase.CLOSED


def test_two_ferries_on_one_store_share_a_breaker(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db"
    with Ferry(url) as ferry, Ferry(url) as other:
        refuse(ferry.breaker("gemini"), 3)
        refuse(other.breaker("gemini"), 2)
        assert ferry.breaker("gemini").phase() is Phase.OPEN
        other.breaker("gemini").reset()
        assert ferry.breaker("gemini").phase() is Phase.CLOSED


def test_a_local_breaker_is_of_this_ferry_alone(ferry: Ferry) -> None:
    refuse(ferry.breaker("gemini", threshold=1, local=True))
    assert ferry.breaker("gemini").phase() is Phase.OPEN
    assert ferry.backend.read_cells("breaker/") == []


def test_a_success_without_failures_writes_nothing(ferry: Ferry) -> None:
    with ferry.breaker("gemini"):
        pass
    assert ferry.backend.read_cells("breaker/") == []


def test_a_breaker_declared_twice_differently_is_refused(ferry: Ferry) -> None:
    ferry.breaker("gemini", threshold=2)
    ferry.breaker("gemini", threshold=2)
    with pytest.raises(TaskError, match="declared twice"):
        ferry.breaker("gemini", threshold=3)


def test_a_name_in_place_of_a_list_of_needs_is_refused(ferry: Ferry) -> None:
    with pytest.raises(TaskError, match=r"\['gemini'\]"):
        ferry.task(needs="gemini")


async def _call(breaker: Breaker, error: Exception | None) -> None:
    async with breaker:
        if error is not None:
            raise error


def test_async_blocks_count_too(ferry: Ferry, work: Callable[..., Worker]) -> None:
    breaker = ferry.breaker("gemini", threshold=2)

    @ferry.task(retry=Retry(1))
    async def ask(well: bool) -> str:
        await _call(breaker, None if well else OSError("down"))
        return "ok"

    work()
    assert ask.push(True).result(10) == "ok"
    for _ in range(2):
        assert ask.push(False).wait(10).state is State.FAILED
    assert breaker.phase() is Phase.OPEN
    waiting = ask.push(True)
    job = wait_until(lambda: (j := waiting.job()).given_back and j, what="the give-back")
    assert isinstance(job, Job)
    assert (job.attempts, job.state) == (0, State.PENDING)
    assert "'gemini' is open" in (job.error or "")
    assert job.ready_at - job.created_at > 200


# -- needs


def test_a_service_that_refuses_everything_is_called_a_few_times_and_no_job_is_charged(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    service, slots, cooldown = Service(), 4, 1.5
    ferry.breaker("gemini", cooldown=cooldown)
    opened: list[float] = []
    ferry.events.subscribe(
        "breaker.opened", lambda event: opened.append(ferry.backend.clock.monotonic())
    )

    @ferry.task(needs=["gemini"], retry=Retry(2, base=0.01))
    def ask() -> str:
        return service.call()

    handles = ask.push_many([()] * 1_000)
    work(slots)
    wait_until(lambda: len(opened) == 3, timeout=20, what="two rounds of probes")
    assert service.calls <= 5 + (slots - 1) + 3 * 2
    jobs = [handle.job() for handle in handles]
    assert {job.attempts - (job.state is State.PROCESSING) for job in jobs} == {0}
    assert {job.state for job in jobs} <= {State.PENDING, State.PROCESSING}
    service.down = False
    wait_until(
        lambda: ferry.backend.snapshot().count(State.COMPLETED) == 1_000,
        timeout=30,
        what="all of them",
    )


def test_jobs_of_other_tasks_run_on_while_a_breaker_is_open(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    refuse(ferry.breaker("gemini", threshold=1))

    @ferry.task(needs=["gemini"])
    def ask() -> None: ...

    @ferry.task()
    def other() -> str:
        return "ran"

    waiting = ask.push()
    work()
    assert other.push().result(10) == "ran"
    assert (waiting.status(), waiting.job().fence) == (State.PENDING, 0)


def test_a_breaker_that_is_reset_lets_the_jobs_run(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    refuse(ferry.breaker("gemini", threshold=1))

    @ferry.task(needs=["gemini"])
    def ask() -> str:
        return "ok"

    waiting = ask.push()
    work()
    ferry.breaker("gemini").reset()
    assert waiting.result(10) == "ok"


def test_a_job_that_fails_while_others_do_well_is_charged_but_for_the_first_time(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    ferry.breaker("gemini", threshold=1_000)

    @ferry.task(needs=["gemini"], retry=Retry(3, base=0.05))
    def ask(well: bool) -> str:
        if not well:
            raise KeyError("a bug")
        return "ok"

    work()
    poison = ask.push(False)
    while not poison.status().terminal:
        assert ask.push(True).result(10) == "ok"
    job = poison.job()
    assert (job.state, job.attempts) == (State.FAILED, 3)
    assert len(job.errors) == 3 + job.given_back > 3


def test_a_block_inside_a_job_that_needs_the_same_breaker_counts_once(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    breaker = ferry.breaker("gemini", threshold=3)
    calls: list[int] = []

    @ferry.task(needs=["gemini"], retry=Retry(1, base=0))
    def ask() -> None:
        calls.append(1)
        with breaker:
            raise OSError("down")

    work()
    handle = ask.push()
    wait_until(lambda: breaker.phase() is Phase.OPEN, what="the breaker to open")
    assert len(calls) == breaker.circuit().failures == 3
    wait_until(lambda: handle.job().given_back == 3, what="the last give-back")
    assert (handle.status(), handle.job().attempts) == (State.PENDING, 0)


def test_a_handler_that_hangs_counts_as_a_failure(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    breaker = ferry.breaker("gemini", threshold=1)
    go = threading.Event()

    @ferry.task(needs=["gemini"], timeout=0.2)
    def ask() -> None:
        go.wait(20)

    ask.push()
    work()
    try:
        wait_until(lambda: breaker.phase() is Phase.OPEN, what="the breaker to open")
        assert "TimeoutError" in (breaker.circuit().problem or "")
    finally:
        go.set()


def test_an_async_task_that_needs_a_breaker_tells_it(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    breaker = ferry.breaker("gemini", threshold=2)

    @ferry.task(needs=["gemini"], retry=Retry(5, base=0))
    async def ask() -> None:
        raise OSError("down")

    handle = ask.push()
    work()
    wait_until(lambda: breaker.phase() is Phase.OPEN, what="the breaker to open")
    wait_until(lambda: handle.status() is State.PENDING, what="the job to be given back")
