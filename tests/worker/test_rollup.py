"""What a worker ends is added up, once, in cells of its own."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from ferryman import BackendUnavailable, Cancel, Fail, Ferry, Retry, Settings, Snooze
from ferryman.job import State
from ferryman.message import Message
from ferryman.queue.answers import Reaped
from ferryman.queue.open import open_backend
from ferryman.service.history import history
from ferryman.testing import FakeClock, wait_until
from ferryman.worker.histogram import Histogram
from ferryman.worker.lookout import LOOKOUT_CELL, Lookout
from ferryman.worker.rollup import HISTORY_CELLS, OUTCOMES, Rollup
from tests.worker.faults import Line, as_backend

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.queue.contract import Backend

FAILED = Reaped("a", "mail", "send", State.FAILED, "gone")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def backend(url: str, clock: FakeClock) -> Iterator[Backend]:
    store = open_backend(url, clock)
    yield store
    store.close()


def totals(backend: Backend, queue: str | None = None) -> dict[str, int]:
    buckets = history(backend, None if queue is None else {queue})
    return {name: sum(bucket.ended.counts[name] for bucket in buckets) for name in OUTCOMES}


def test_every_end_is_counted_once_and_in_its_queue(ferry: Ferry) -> None:
    @ferry.task(queue="ends", retry=Retry(2, base=0.01))
    def end(how: str) -> None:
        match how:
            case "fail":
                raise Fail("no")
            case "cancel":
                raise Cancel("no more")
            case "retry":
                raise ValueError("boom")

    @ferry.task(queue="naps")
    def nap() -> None:
        raise Snooze(60)

    end.push_many(["well"] * 40 + ["fail"] * 3 + ["cancel"] * 2 + ["retry"])
    nap.push()
    worker = ferry.worker({"ends": 2, "naps": 1}, Settings(lease=1.0))
    worker.start()
    ended = {State.COMPLETED: 40, State.FAILED: 4, State.CANCELLED: 2}
    wait_until(lambda: {s: ferry.backend.snapshot().count(s) for s in ended} == ended)
    worker.join()
    wanted = {"done": 40, "failed": 4, "retried": 1, "cancelled": 2}
    assert totals(ferry.backend) == totals(ferry.backend, "ends") == wanted
    assert totals(ferry.backend, "naps") == dict.fromkeys(OUTCOMES, 0)


def test_wait_and_run_times_are_kept_as_quantiles(ferry: Ferry) -> None:
    @ferry.task()
    def quick() -> None: ...

    quick.push_many([()] * 500)
    worker = ferry.worker({"default": 1}, Settings(lease=1.0))
    worker.start()
    wait_until(lambda: ferry.backend.snapshot().count(State.COMPLETED) == 500)
    worker.join()
    [ended] = [bucket.ended for bucket in history(ferry.backend) if bucket.ended.counts][:1]
    wait, run = ended.wait.quantile(0.99), ended.run.quantile(0.99)
    assert wait is not None
    assert run is not None
    assert 0 <= run < 5
    assert 0 <= wait < 30


def test_two_workers_add_up(backend: Backend) -> None:
    for worker in ("one", "two"):
        rollup = Rollup(backend, worker)
        rollup.add_reaped([FAILED] * 3)
        rollup.write()
    assert totals(backend)["failed"] == 6


def test_what_is_written_again_is_not_counted_again(backend: Backend) -> None:
    rollup = Rollup(backend, "one")
    for _ in range(3):
        rollup.add_reaped([FAILED])
        rollup.write()
        rollup.write()
    assert totals(backend)["failed"] == 3
    assert len(backend.read_cells(HISTORY_CELLS)) == 1


def test_a_worker_under_a_new_name_leaves_what_the_old_one_counted(backend: Backend) -> None:
    for worker in ("before the crash", "after it"):
        rollup = Rollup(backend, worker)
        rollup.add_reaped([FAILED])
        rollup.write()
    assert totals(backend)["failed"] == 2


def test_nothing_is_lost_in_an_outage_nor_by_a_lost_reply(backend: Backend) -> None:
    line = Line(backend)
    rollup = Rollup(as_backend(line), "one")
    rollup.add_reaped([FAILED])
    line.down = True
    with pytest.raises(BackendUnavailable):
        rollup.write()
    rollup.add_reaped([FAILED])
    line.down = False
    line.lose_reply("write_cell")
    with pytest.raises(BackendUnavailable):
        rollup.write()
    rollup.write()
    assert totals(backend)["failed"] == 2


def test_buckets_of_five_minutes_cover_a_day_and_then_go(
    backend: Backend, clock: FakeClock
) -> None:
    rollup = Rollup(backend, "one")
    for _ in range(25 * 12):
        rollup.add_reaped([FAILED])
        rollup.write()
        clock.advance(300)
    found = [bucket.ended.counts["failed"] for bucket in history(backend)]
    assert found == [1] * 287 + [0]
    assert [b.ended.counts["failed"] for b in history(backend, hours=1)] == [1] * 11 + [0]
    assert len(rollup._ended) <= 12
    clock.advance(86_400)
    assert not backend.read_cells(HISTORY_CELLS)


def test_a_worker_without_work_writes_nothing(backend: Backend) -> None:
    line = Line(backend)
    Rollup(as_backend(line), "one").write()
    assert line.calls == {}


def test_a_cell_that_cannot_be_read_hides_no_other(backend: Backend) -> None:
    rollup = Rollup(backend, "one")
    rollup.add_reaped([FAILED])
    rollup.write()
    for number, text in enumerate(["", "[]", '{"x":{}}', '{"0":{"mail":[1]}}', '{"0":3}']):
        backend.write_cell(f"{HISTORY_CELLS}0/{number}", text, expect=None)
    assert totals(backend)["failed"] == 1


@pytest.mark.parametrize("share", [0.01, 0.5, 0.95, 0.99, 1.0])
def test_a_quantile_is_right_to_an_eighth(share: float) -> None:
    chance = random.Random(3)
    times = sorted(10 ** chance.uniform(-3, 3) for _ in range(5_000))
    parts = [Histogram(), Histogram()]
    for number, seconds in enumerate(times):
        parts[number % 2].add(seconds)
    parts[0].merge(parts[1])
    found = parts[0].quantile(share)
    assert found == pytest.approx(times[int(share * 4_999)], rel=0.13)


@pytest.mark.parametrize("seconds", [-5.0, 0.0, 1e-9, 1e12])
def test_no_time_is_too_short_or_too_long(seconds: float) -> None:
    times = Histogram()
    times.add(seconds)
    found = times.quantile(0.5)
    assert found is not None
    assert 0 <= found < 1e10


def test_no_times_have_no_quantile() -> None:
    assert Histogram().quantile(0.5) is None


def ages(backend: Backend, queue: str | None = None) -> list[float | None]:
    """Of the last three buckets."""
    return [bucket.ended.oldest for bucket in history(backend, queue and {queue}, 1)][-3:]


def test_the_oldest_ready_job_of_a_bucket_is_noted_by_queue(
    backend: Backend, clock: FakeClock
) -> None:
    rollup = Rollup(backend, "one")
    backend.push([Message.of("mail", "send", id="old"), Message.of("post", "send", delay=9_999)])
    clock.advance(300)
    for _ in range(3):
        clock.advance(20)
        rollup.add_ages(backend.snapshot())
    rollup.write()
    assert ages(backend) == ages(backend, "mail") == [None, None, 360]
    assert ages(backend, "post") == ages(backend, "none") == [None, None, 0]
    backend.cancel(["old"])
    clock.advance(600)
    rollup.add_ages(backend.snapshot())
    rollup.write()
    assert ages(backend, "mail") == [360, None, 0]
    assert len(rollup._ended) <= 5


def test_one_worker_of_all_looks_and_another_when_that_one_is_gone(
    backend: Backend, clock: FakeClock
) -> None:
    lines = [Line(backend) for _ in range(3)]
    looks = [
        Lookout(as_backend(line), f"w{n}", Rollup(backend, f"w{n}"), ttl=60.0)
        for n, line in enumerate(lines)
    ]

    def turn(*workers: int) -> list[int]:
        before = [line.calls.get("snapshot", 0) for line in lines]
        for worker in workers:
            looks[worker].look()
        return [line.calls.get("snapshot", 0) - n for line, n in zip(lines, before, strict=True)]

    assert turn(0, 1, 2) == [1, 0, 0]
    clock.advance(20)
    assert turn(2, 1, 0) == [1, 0, 0]
    clock.advance(61)
    assert turn(2, 1, 0) == [0, 0, 1]
    looks[0].leave()
    assert turn(0, 1) == [0, 0, 0]
    looks[2].leave()
    assert turn(1, 0) == [0, 1, 0]


def test_a_worker_notes_how_long_jobs_wait_that_nobody_takes(ferry: Ferry) -> None:
    ferry.push("late", queue="elsewhere")
    worker = ferry.worker({"default": 1}, Settings(lease=1.0))
    worker.start()
    wait_until(lambda: ages(ferry.backend, "elsewhere") != [None] * 3, what="a look")
    worker.join()
    assert ferry.backend.read_cells(LOOKOUT_CELL) == []
