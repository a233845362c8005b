"""What went wrong in the queue that this one replaces, each as a case that cannot go wrong here.

| lesson | on S3 |
|---|---|
| 1 syncing leases every minute let nodes run a job twice | test_two_nodes_never_run_one_job |
| 2 discovery missed jobs: shards, ids of another shape, nearly empty queues | test_a_new_task_travels_at_once, test_ids_of_every_kind_are_found_by_another_node |
| 3 finished jobs came back (zombies) | test_a_task_that_comes_back_after_its_end_is_never_run_again |
| 4 a mirror that deletes lost what others had pushed | test_a_sync_never_deletes_what_only_the_other_side_has |
| 5 poisoned jobs went round for ever | test_a_poisoned_job_ends_in_failed_with_every_error, test_a_task_that_nobody_can_read_is_named_and_hides_nothing |
| 6 ack, nack and heartbeat did not ask whose lease it is | test_a_worker_whose_lease_was_reclaimed_records_nothing |
| 7 two could reclaim one stale lease | test_of_two_reapers_one_reclaims_a_lease |
| 8 an empty or partial lease locked everybody out | test_a_lease_that_nobody_can_read_counts_by_its_age |
| 9 nobody sent heartbeats any more | test_a_heartbeat_keeps_a_job_that_runs_longer_than_its_lease, test_a_lease_that_another_node_prolonged_is_not_reaped |
| 10 a blocking poll starved the heartbeats | test_a_heartbeat_does_not_wait_for_a_poll |
| 11 clocks and time zones of machines differ | test_a_machine_whose_clock_is_an_hour_off_starts_nothing_early_and_steals_nothing, test_a_relaxed_machine_whose_clock_is_an_hour_off_does_no_harm_either, test_times_in_objects_name_their_zone |
| 12 names became paths | test_no_name_leads_out_of_its_queue |

The same lessons on files: `tests/backends/test_file_lessons.py`.
"""  # noqa: E501 - a table has long lines

from __future__ import annotations

import json
import os
import threading
import time
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from ferryman.backends.s3.location import Location
from ferryman.backends.s3.stamp import TOMBSTONE
from ferryman.clock import SystemClock
from ferryman.job import JobError, State
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.heartbeat import Beat
from ferryman.queue.open import open_backend
from ferryman.queue.settlement import Settlement
from ferryman.retry import Backoff
from ferryman.testing.clock import FakeClock
from ferryman.testing.conformance.crowd import drain, together
from ferryman.testing.waiting import wait_until
from tests.s3.nodes import LEASE, ack, poll, push
from tests.servers.kinds import BUCKET
from tests.servers.line import Line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ferryman.backends.s3.bucket import Bucket
    from ferryman.backends.s3.home import Home
    from ferryman.backends.s3.strict import StrictBackend
    from ferryman.queue.contract import Backend
    from tests.servers.line import Exchange
    from tests.servers.shared import Server

    Join = Callable[..., StrictBackend]

HOUR = 3_600.0
AT_ONCE = Backoff(base=0, jitter=0).text()
NAMES = ["ChIJ-8bKz", "24/7", "..", "deadbeef", "UPPER", "Straße 12", "a" * 300, "%41", ".x"]


def test_two_nodes_never_run_one_job(join: Join) -> None:
    one, other = join("one"), join("other")
    ids = [f"job-{number}" for number in range(60)]
    one.push([Message.of("mail", "send", id=job_id) for job_id in ids])
    other.sync()
    found = together(lambda: drain(one, "w1"), lambda: drain(other, "w2"))
    assert sorted(job.id for jobs in found for job in jobs) == sorted(ids)
    assert {job.fence for jobs in found for job in jobs} == {1}


def test_a_new_task_travels_at_once(join: Join) -> None:
    one, other = join("one"), join("other")
    push(one)
    assert [job.id for job in poll(other)] == ["job"]


def test_a_task_that_comes_back_after_its_end_is_never_run_again(
    join: Join, clock: FakeClock, raw: Bucket, home: Home
) -> None:
    one, other = join("one"), join("other")
    push(one)
    key = home.task("mail", "job")
    zombie = raw.get(key)
    assert zombie is not None
    assert ack(one, poll(one)[0])
    clock.advance(TOMBSTONE + 1)
    one.sync()
    raw.put(key, zombie.body)
    assert poll(other) == []
    clock.advance(60)
    other.sync()
    one.sync()
    assert raw.get(key) is None
    assert (poll(one), poll(other)) == ([], [])


def test_a_sync_never_deletes_what_only_the_other_side_has(
    join: Join, raw: Bucket, home: Home, tmp_path: Path
) -> None:
    one, other = join("one"), join("other")
    other.sync()
    push(one)
    other.sync()
    assert raw.get(home.task("mail", "job")) is not None
    push(one, "vanished")
    raw.delete(home.task("mail", "vanished"))
    # A file that changed within two seconds may still be in somebody's hands.
    os.utime(tmp_path / "one" / "mail" / "pending" / "vanished" / "task.json", (0, 0))
    one.sync()
    kept = tmp_path / "one" / "mail" / "quarantine"
    assert "no longer in the bucket" in (kept / "vanished.reason.txt").read_text()
    assert (kept / "vanished.json").exists()
    assert [job.id for job in poll(one)] == ["job"]


def test_what_was_set_aside_enters_the_bucket_again_when_it_is_moved_back(
    join: Join, raw: Bucket, home: Home, tmp_path: Path
) -> None:
    one, mail = join("one"), tmp_path / "one" / "mail"
    push(one)
    raw.delete(home.task("mail", "job"))
    os.utime(mail / "pending" / "job" / "task.json", (0, 0))
    one.sync()
    (mail / "pending" / "job").mkdir()
    (mail / "quarantine" / "job.json").rename(mail / "pending" / "job" / "task.json")
    one.sync()
    assert raw.get(home.task("mail", "job")) is not None
    assert [job.id for job in poll(one)] == ["job"]


def test_of_two_reapers_one_reclaims_a_lease(join: Join, clock: FakeClock) -> None:
    one, other = join("one"), join("other")
    for number in range(12):
        push(one, f"job-{number}")
    assert len(poll(one, "dead", 12)) == 12
    other.sync()
    clock.advance(LEASE + 1)
    found = together(one.reap, other.reap)
    assert sorted(each.id for reaped in found for each in reaped) == sorted(
        f"job-{number}" for number in range(12)
    )


def test_a_lease_that_another_node_prolonged_is_not_reaped(join: Join, clock: FakeClock) -> None:
    one, other = join("one"), join("other")
    push(one)
    [job] = poll(one, "w1")
    other.sync()
    clock.advance(LEASE - 1)
    assert one.heartbeat("w1", [Beat(job.id, job.fence)], lease=LEASE)[0].held
    clock.advance(2)
    assert list(other.reap()) == []
    assert ack(one, job)


def test_a_worker_whose_lease_was_reclaimed_records_nothing(join: Join, clock: FakeClock) -> None:
    one, other = join("one"), join("other")
    push(one)
    [lost] = poll(one, "w1")
    clock.advance(LEASE + 1)
    other.sync()
    assert len(other.reap()) == 1
    clock.advance(10)
    [job] = poll(other, "w2")
    assert not ack(one, lost)
    assert not one.heartbeat("w1", [Beat(lost.id, lost.fence)], lease=LEASE)[0].held
    assert ack(other, job)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"state": "leased"}'])
def test_a_lease_that_nobody_can_read_counts_by_its_age(
    join: Join, raw: Bucket, home: Home, content: bytes
) -> None:
    clock = FakeClock(time.time())
    store = join("one", clock=clock)
    push(store)
    raw.put(home.lease("mail", "job"), content)
    written = raw.get(home.lease("mail", "job"))
    assert written is not None
    assert poll(store) == []
    clock.advance(written.modified + 61 - clock.now())
    assert [reaped.id for reaped in store.reap()] == ["job"]
    clock.advance(10)
    [job] = poll(store)
    assert job.fence > 1
    assert ack(store, job)


def test_ids_of_every_kind_are_found_by_another_node(join: Join) -> None:
    one, other = join("one"), join("other")
    one.push([Message.of("mail", "send", id=name) for name in NAMES])
    assert sorted(job.id for job in poll(other, limit=50)) == sorted(NAMES)
    assert all(other.get(name) is not None for name in NAMES)


def test_a_poisoned_job_ends_in_failed_with_every_error(join: Join) -> None:
    one, other = join("one"), join("other")
    push(one, max_attempts=3, backoff=AT_ONCE)
    for attempt, store in enumerate((one, other, one), start=1):
        store.sync()
        [job] = poll(store)
        error = JobError(attempt, 0.0, "w", "ValueError", f"boom {attempt}")
        store.settle([Settlement.of(job, Verdict.NACK, error=error)])
    other.sync()
    assert poll(other) == []
    failed = other.get("job")
    assert failed is not None
    assert failed.state is State.FAILED
    assert [error.text for error in failed.errors] == ["boom 1", "boom 2", "boom 3"]


def test_a_task_that_nobody_can_read_is_named_and_hides_nothing(
    join: Join, raw: Bucket, home: Home
) -> None:
    store = join("one")
    push(store, "good")
    raw.put(home.task("mail", "torn"), b'{"task": "se')
    [named] = store.sync()["unreadable"]  # type: ignore[misc]
    assert "torn" in named
    assert [job.id for job in poll(store)] == ["good"]


def test_a_heartbeat_keeps_a_job_that_runs_longer_than_its_lease(
    join: Join, clock: FakeClock
) -> None:
    one, other = join("one"), join("other")
    push(one)
    [job] = poll(one)
    other.sync()
    for _ in range(5):
        clock.advance(LEASE * 2 / 3)
        assert one.heartbeat("w", [Beat(job.id, job.fence)], lease=LEASE)[0].held
        assert list(other.reap()) == []
        assert poll(other) == []
    assert ack(one, job)


def test_a_heartbeat_does_not_wait_for_a_poll(join: Join, ministack: Server) -> None:
    asked, gate = threading.Event(), threading.Event()

    def slow(exchange: Exchange) -> None:
        asked.set()
        gate.wait(20)
        exchange.answer(exchange.forward())

    with Line(ministack.address) as line:
        store = join("one", line.address)
        push(store)
        [job] = poll(store)
        line.fault(slow, method="GET", key="paused.json")
        waiting = threading.Thread(target=store.poll, args=("w", {"post": 1}), kwargs={"lease": 9})
        waiting.start()
        assert asked.wait(20)
        assert store.heartbeat("w", [Beat(job.id, job.fence)], lease=LEASE)[0].held
        assert waiting.is_alive()
        gate.set()
        waiting.join()


# -- clocks: an injected `SystemClock` is this machine's, and may be wrong


class Off(SystemClock):
    """A machine whose wall clock is that far ahead."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def now(self) -> float:
        return super().now() + self._seconds


@pytest.fixture
def opened(
    ministack: Server, aws_settings: None, prefix: str, tmp_path: Path
) -> Iterator[Callable[..., Backend]]:
    """Opens a node by its URL, on a machine whose clock is some seconds ahead."""
    stores: list[Backend] = []
    endpoint = quote(ministack.address, safe="")

    def open_node(name: str, ahead: float, consistency: str = "strict") -> Backend:
        options = f"root={tmp_path}/{name}&consistency={consistency}&endpoint={endpoint}"
        stores.append(open_backend(f"s3://{BUCKET}/{prefix}?{options}", Off(ahead)))
        return stores[-1]

    yield open_node
    for store in stores:
        store.close()


def sync(*stores: Backend) -> None:
    for store in stores:
        store.sync()  # type: ignore[attr-defined]


@pytest.mark.parametrize("ahead", [-HOUR, HOUR])
def test_a_machine_whose_clock_is_an_hour_off_starts_nothing_early_and_steals_nothing(
    opened: Callable[..., Backend], ahead: float
) -> None:
    right, wrong = opened("right", 0), opened("wrong", ahead)
    for here, there in ((right, wrong), (wrong, right)):
        held, later = f"held {here is right}", f"later {here is right}"
        push(here, held)
        [job] = poll(here, "w1")
        push(here, later, delay=HOUR / 2)
        sync(there)
        assert list(there.reap()) == []
        assert poll(there, "w2") == []
        assert ack(here, job)
        seen = there.get(later)
        assert seen is not None
        assert HOUR / 2 <= seen.ready_at - time.time() + 2 <= HOUR / 2 + 5


@pytest.mark.parametrize("ahead", [-HOUR, HOUR])
def test_a_relaxed_machine_whose_clock_is_an_hour_off_does_no_harm_either(
    opened: Callable[..., Backend], ahead: float
) -> None:
    right, wrong = (opened(name, lead, "relaxed") for name, lead in (("r", 0), ("w", ahead)))
    for here, there, lead in ((right, wrong, ahead), (wrong, right, 0)):
        held, later = f"held {here is right}", f"later {here is right}"
        push(here, held)
        [job] = poll(here, "w1")
        push(here, later, delay=HOUR / 2)
        sync(here, there)
        assert list(there.reap()) == []
        assert poll(there, "w2") == []
        found = there.get(held)
        assert found is not None
        assert found.state is State.PROCESSING
        seen = there.get(later)
        assert seen is not None
        # By its own clock each machine waits for the same half an hour.
        assert HOUR / 2 <= seen.ready_at - (time.time() + lead) + 2 <= HOUR / 2 + 5
        assert ack(here, job)


@pytest.mark.parametrize("ahead", [-HOUR, HOUR])
def test_a_lease_of_a_relaxed_machine_whose_clock_is_off_ends_in_time(
    opened: Callable[..., Backend], ahead: float
) -> None:
    right, wrong = (opened(name, lead, "relaxed") for name, lead in (("r", 0), ("w", ahead)))
    push(wrong)
    assert len(poll(wrong, "w1", lease=0.5)) == 1
    sync(wrong, right)
    wait_until(lambda: [each.id for each in right.reap()] == ["job"], what="the lease to expire")


@pytest.fixture
def kathmandu() -> Iterator[None]:
    """A machine at a quarter to six hours east."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "Asia/Kathmandu")
        time.tzset()
        yield
    time.tzset()


def test_times_in_objects_name_their_zone(
    kathmandu: None, join: Join, raw: Bucket, home: Home
) -> None:
    store = join("one")
    push(store)
    poll(store)
    found = [raw.get(key) for key in (home.task("mail", "job"), home.lease("mail", "job"))]
    for each in found:
        assert each is not None
        facts = json.loads(each.body)
        times = [value for name, value in facts.items() if name.endswith("_at") and value]
        assert times
        assert all(value.endswith("Z") for value in times)


@pytest.mark.parametrize("queue", ["24/7", "..", ".", "data/data/queues", "/etc", ".cells"])
def test_no_name_leads_out_of_its_queue(
    join: Join, raw: Bucket, prefix: str, tmp_path: Path, queue: str
) -> None:
    store = join("one")
    store.push([Message.of(queue, "send", id=queue)])
    [job] = store.poll("w", {queue: 1}, lease=LEASE)
    assert (job.id, job.queue) == (queue, queue)
    name = Location(BUCKET, prefix).queue(queue)
    keys = [entry.key for entry in raw.list(f"{prefix}/") if "/pending/" in entry.key]
    assert len(keys) == 2
    assert all(key.startswith(name) and key.count("/") == 4 for key in keys)
    assert sorted(os.listdir(tmp_path)) == ["one"]  # noqa: PTH208
    assert len([each for each in os.listdir(tmp_path / "one") if each[0] != "."]) == 1  # noqa: PTH208
