"""What is particular to the memory backend; the common rules are in the conformance suite."""

from __future__ import annotations

import dataclasses
import pickle
from threading import Thread
from typing import Any

import pytest

from ferryman.backends.memory import MemoryBackend, connect
from ferryman.backends.memory.row import Row
from ferryman.clock import SystemClock
from ferryman.errors import BackendRejected, Unsupported
from ferryman.filter import Filter
from ferryman.job import Job, JobError, LogLine, State
from ferryman.lifecycle import MAX_GIVEN_BACK, Verdict
from ferryman.message import Message
from ferryman.queue.heartbeat import Beat
from ferryman.queue.open import open_backend
from ferryman.queue.settlement import Settlement
from ferryman.testing.clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def backend(clock: FakeClock) -> MemoryBackend:
    return MemoryBackend(clock)


def message(**options: Any) -> Message:
    return Message(**{"queue": "mail", "task": "send", **options})


def poll(backend: MemoryBackend, limit: int = 10) -> list[Job]:
    return [*backend.poll("ann", {"mail": limit}, lease=60)]


# -- opening


def test_two_stores_share_nothing() -> None:
    one, other = open_backend("memory://"), open_backend("memory://")
    one.push([message(id="a")])
    assert other.get("a") is None


@pytest.mark.parametrize("url", ["memory://", "memory://name", "memory:///"])
def test_a_name_is_allowed_and_means_nothing(url: str) -> None:
    assert connect(url, SystemClock()).capabilities.backend == "memory"


@pytest.mark.parametrize("url", ["memory://?size=5", "memory:///jobs", "memory://#top"])
def test_options_are_refused(url: str) -> None:
    with pytest.raises(BackendRejected, match="takes no path and no options"):
        open_backend(url)


def test_a_transaction_cannot_be_joined_and_the_way_out_is_named(backend: MemoryBackend) -> None:
    with pytest.raises(Unsupported, match=r"memory: push\(connection=…\) needs a database"):
        backend.push([message(id="a")], connection=object())
    assert backend.get("a") is None


def test_it_says_what_it_cannot_hold(backend: MemoryBackend) -> None:
    can = backend.capabilities
    assert (can.durable, can.shared, can.transactional_push) == (False, False, False)
    assert can.order == "strict"


def test_the_store_stays_when_it_is_closed(backend: MemoryBackend) -> None:
    backend.push([message(id="a")])
    backend.close()
    assert backend.get("a") is not None


# -- jobs outside are values


def test_a_job_is_as_if_it_had_been_made_by_its_constructor(backend: MemoryBackend) -> None:
    backend.push([message(id="a", meta={"user_id": "42"})])
    job = backend.get("a")
    assert isinstance(job, Job)
    fields = {field.name: getattr(job, field.name) for field in dataclasses.fields(Job)}
    made = Job(**fields)
    assert (job, hash(job.id), repr(job)) == (made, hash(made.id), repr(made))
    assert dataclasses.replace(job, priority=7).priority == 7
    assert pickle.loads(pickle.dumps(job)) == job  # noqa: S301
    with pytest.raises(dataclasses.FrozenInstanceError):
        job.priority = 7  # type: ignore[misc]


def test_a_row_has_every_field_of_a_job() -> None:
    fields = {field.name for field in dataclasses.fields(Job)}
    in_message = {field.name for field in dataclasses.fields(Message)}
    assert fields - set(Row.__slots__) - in_message == {"run"}


def test_a_job_does_not_change_with_the_store(backend: MemoryBackend) -> None:
    backend.push([message(id="a")])
    before = backend.get("a")
    poll(backend)
    assert before is not None
    assert before.state is State.PENDING


def test_the_store_does_not_change_with_the_callers_dict(backend: MemoryBackend) -> None:
    mine = {"user_id": "42"}
    backend.push([message(id="a", meta=mine)])
    mine["user_id"] = "43"
    (job,) = poll(backend)
    assert job.meta == {"user_id": "42"}
    job.meta["user_id"] = "44"  # type: ignore[index]
    again = backend.get("a")
    assert again is not None
    assert again.meta == {"user_id": "42"}


# -- bounds


def test_only_the_last_thousand_log_lines_are_kept(backend: MemoryBackend) -> None:
    backend.push([message(id="a")])
    (job,) = poll(backend)
    lines = [LogLine(1.0, str(number)) for number in range(1_300)]
    backend.heartbeat("ann", [Beat("a", job.fence, logs=tuple(lines[:600]))], lease=60)
    rest = tuple(lines[600:])
    backend.settle([Settlement.of(job, Verdict.ACK, logs=rest)])
    kept = backend.get("a")
    assert kept is not None
    assert [line.text for line in kept.logs] == [str(number) for number in range(300, 1_300)]


def test_a_job_given_back_a_thousand_times_fails_with_the_reason(backend: MemoryBackend) -> None:
    backend.push([message(id="a", max_attempts=1)])
    for _ in range(MAX_GIVEN_BACK):
        (job,) = poll(backend)
        backend.settle([Settlement.of(job, Verdict.GIVE_BACK)])
    failed = backend.get("a")
    assert failed is not None
    assert (failed.state, failed.attempts, failed.given_back) == (State.FAILED, 0, 1_000)
    assert [error.kind for error in failed.errors] == ["given_back"]
    assert "1,000" in (failed.error or "")


def test_cancelled_jobs_do_not_stay_in_the_heaps(backend: MemoryBackend) -> None:
    ids = [str(number) for number in range(2_000)]
    backend.push([message(id=each, delay=1_000, expires=2_000) for each in ids])
    backend.cancel(ids[:1_990])
    line = backend._store.lines["mail"]
    assert len(line._scheduled) == 10
    assert len(line._scheduled._entries) < 200
    assert len(backend._store.deadlines._entries) < 200


def test_a_skipped_task_costs_nothing_to_skip(backend: MemoryBackend) -> None:
    backend.push([message(task="closed", priority=9) for _ in range(1_000)])
    backend.push([message(task="open")])
    before = [*backend._store.lines["mail"]._ready["closed"]._entries]
    (job,) = backend.poll("ann", {"mail": 5}, lease=60, skip_tasks={"closed"})
    assert job.task == "open"
    assert backend._store.lines["mail"]._ready["closed"]._entries == before


# -- a clock that is set back


def test_a_job_is_never_early_even_when_the_clock_is_set_back(
    backend: MemoryBackend, clock: FakeClock
) -> None:
    backend.push([message(id="a", delay=10)])
    clock.advance(11)
    assert backend.wait(["mail"], 0)  # the store has seen that it is due
    clock.step(-5)
    assert poll(backend) == []
    clock.advance(5)
    assert [job.id for job in poll(backend)] == ["a"]


# -- keys and history


def test_a_key_is_looked_up_without_walking_its_history(backend: MemoryBackend) -> None:
    for number in range(50):
        backend.push([message(id=str(number), key="k")])
        (job,) = poll(backend)
        backend.settle([Settlement.of(job, Verdict.ACK)])
    assert not backend._store.keys._unfinished
    (pushed,) = backend.push([message(id="again", key="k", unique=10)])
    assert (pushed.id, pushed.status) == ("49", "existing")


def test_a_deleted_job_leaves_nothing_behind(backend: MemoryBackend, clock: FakeClock) -> None:
    backend.push([message(id="a", key="k", expires=50), message(id="b", key="l", delay=9)])
    (job,) = poll(backend)
    error = JobError(1, clock.now(), "ann", "ValueError", "no")
    backend.settle([Settlement.of(job, Verdict.FAIL, error=error)])
    backend.delete(["a", "b"])
    store = backend._store
    left = (store.rows, store.history, store.claims, store.keys._pushed, store.keys._unfinished)
    assert not any(left)
    assert not len(store.deadlines)
    assert backend.snapshot().queues == {}


def test_pages_follow_each_other_to_the_end(backend: MemoryBackend) -> None:
    backend.push([message(id=str(number)) for number in range(7)])
    seen: list[str] = []
    after = None
    while True:
        page = backend.list(Filter(), limit=3, after=after)
        seen += [job.id for job in page.jobs]
        after = page.next
        if after is None:
            break
    assert seen == list("6543210")


# -- many threads


def test_threads_that_push_claim_and_settle_run_each_job_once() -> None:
    backend = MemoryBackend(SystemClock())
    done: list[str] = []

    def produce(name: str) -> None:
        for number in range(200):
            backend.push([message(id=f"{name}-{number}")])

    def consume(name: str) -> None:
        while len(done) < 800:
            jobs = backend.poll(name, {"mail": 7}, lease=60)
            settlements = [Settlement.of(job, Verdict.ACK) for job in jobs]
            receipts = backend.settle(settlements)
            done.extend(receipt.job_id for receipt in receipts if receipt.applied)
            if not jobs:
                backend.wait(["mail"], 0.05)

    threads = [Thread(target=produce, args=(f"p{n}",)) for n in range(4)]
    threads += [Thread(target=consume, args=(f"c{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == len(set(done)) == 800
    assert backend.snapshot().count(State.COMPLETED) == 800
