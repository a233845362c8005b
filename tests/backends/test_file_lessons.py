"""What went wrong in earlier file queues, each as a case that cannot go wrong here.

1 late looks make duplicates: no_claim_is_made_by_two_stores · 2 a lookup that misses:
a_nearly_empty_queue, ids_of_every_kind · 3 zombies: a_zombie_loses · 4 deletion by absence: a
matter of several nodes, tests/s3 · 5 poison: a_poisoned_job · 6 no ownership:
a_worker_whose_lease · 7 two reclaimers: two_reclaimers · 8 torn leases: an_empty_or_partial_lease,
a_lease_is_whole · 9 no heartbeat: a_heartbeat_keeps · 10 a poll that blocks heartbeats:
a_heartbeat_does_not_wait · 11 clocks and zones: times_in_files, test_file_time · 12 paths:
no_queue_name_leads_out, ids_of_every_kind.
"""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING

import pytest

from ferryman.errors import BackendUnavailable
from ferryman.job import JobError, State
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.heartbeat import Beat
from ferryman.queue.open import open_backend
from ferryman.queue.settlement import Settlement
from ferryman.retry import Backoff
from ferryman.testing.clock import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ferryman.queue.contract import Backend

AT_ONCE = Backoff(base=0, jitter=0).text()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(tmp_path: Path, clock: FakeClock) -> Iterator[Backend]:
    backend = open_backend(f"file://{tmp_path}?durability=relaxed", clock)
    yield backend
    backend.close()


@pytest.fixture
def rival(tmp_path: Path, clock: FakeClock) -> Iterator[Backend]:
    backend = open_backend(f"file://{tmp_path}?durability=relaxed", clock)
    yield backend
    backend.close()


def push(store: Backend, *ids: str, **options: object) -> None:
    store.push([Message.of("mail", "send", id=job_id, **options) for job_id in ids])


def test_no_claim_is_made_by_two_stores_however_late_they_look(
    store: Backend, rival: Backend
) -> None:
    push(store, *(f"j{number}" for number in range(50)))
    mine = store.poll("w1", {"mail": 30}, lease=60)
    theirs = rival.poll("w2", {"mail": 50}, lease=60)
    assert sorted(job.id for job in [*mine, *theirs]) == sorted(f"j{n}" for n in range(50))


def test_a_nearly_empty_queue_is_never_missed(store: Backend, rival: Backend) -> None:
    for number in range(40):
        push(store, f"j{number}", priority=number % 3 - 1)
        assert [job.id for job in rival.poll("w1", {"mail": 5}, lease=60)] == [f"j{number}"]


def test_ids_of_every_kind_are_found_where_they_were_put(store: Backend, rival: Backend) -> None:
    ids = ["ChIJ-8bKz", "24/7", "..", "deadbeef", "UPPER", "Straße 12", "a" * 500, "%41", ".x"]
    push(store, *ids)
    assert sorted(job.id for job in rival.poll("w1", {"mail": 50}, lease=60)) == sorted(ids)
    assert all(rival.get(job_id) is not None for job_id in ids)


def test_a_zombie_loses_against_its_finished_record(store: Backend, tmp_path: Path) -> None:
    push(store, "z")
    text = (tmp_path / "mail" / "pending" / "z" / "task.json").read_text()
    [job] = store.poll("w1", {"mail": 1}, lease=60)
    store.settle([Settlement.of(job, Verdict.ACK)])
    (tmp_path / "mail" / "pending" / "z").mkdir()
    (tmp_path / "mail" / "pending" / "z" / "task.json").write_text(text)
    assert list(store.poll("w2", {"mail": 1}, lease=60)) == []
    zombie = store.get("z")
    assert zombie is not None
    assert zombie.state is State.COMPLETED


def test_a_poisoned_job_ends_in_failed_with_every_error(store: Backend, tmp_path: Path) -> None:
    push(store, "p", max_attempts=3, backoff=AT_ONCE)
    for attempt in (1, 2, 3):
        [job] = store.poll("w1", {"mail": 1}, lease=60)
        error = JobError(attempt, 0.0, "w1", "ValueError", f"boom {attempt}")
        store.settle([Settlement.of(job, Verdict.NACK, error=error)])
    record = json.loads((tmp_path / "mail" / "failed" / "p.json").read_text())
    assert [error["text"] for error in record["errors"]] == ["boom 1", "boom 2", "boom 3"]


def test_a_worker_whose_lease_was_reclaimed_cannot_touch_its_successors(
    store: Backend, rival: Backend, clock: FakeClock
) -> None:
    push(store, "x", backoff=AT_ONCE)
    [old] = store.poll("w1", {"mail": 1}, lease=10)
    clock.advance(11)
    rival.reap()
    [new] = rival.poll("w2", {"mail": 1}, lease=10)
    assert not store.heartbeat("w1", [Beat("x", old.fence, percent=5)], lease=60)[0].held
    for verdict in (Verdict.ACK, Verdict.NACK, Verdict.GIVE_BACK):
        assert not store.settle([Settlement.of(old, verdict)])[0].applied
    held = rival.get("x")
    assert held is not None
    assert (held.worker, held.expires_at, held.percent) == ("w2", new.expires_at, None)


def test_two_reclaimers_return_a_stale_lease_once(
    store: Backend, rival: Backend, clock: FakeClock
) -> None:
    push(store, *(f"j{number}" for number in range(30)), backoff=AT_ONCE)
    store.poll("w1", {"mail": 30}, lease=10)
    clock.advance(11)
    found: list[str] = []

    def reclaim(backend: Backend) -> None:
        found.extend(reaped.id for reaped in backend.reap())

    threads = [threading.Thread(target=reclaim, args=(each,)) for each in (store, rival)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(f"j{number}" for number in range(30))


@pytest.mark.parametrize("content", [b"", b'{"worker_id": "w', b"null"])
def test_an_empty_or_partial_lease_locks_nobody_out(
    store: Backend, tmp_path: Path, content: bytes
) -> None:
    push(store, "x")
    (tmp_path / "mail" / "pending" / "x" / "lease.json").write_bytes(content)
    [job] = store.poll("w1", {"mail": 1}, lease=60)
    assert job.fence == 1
    assert store.settle([Settlement.of(job, Verdict.ACK)])[0].applied


def test_a_lease_is_whole_whenever_it_is_read(tmp_path: Path) -> None:
    store = open_backend(f"file://{tmp_path}?durability=relaxed")
    push(store, "x")
    [job] = store.poll("w1", {"mail": 1}, lease=60)
    lease = tmp_path / "mail" / "pending" / "x" / "lease.json"
    done = threading.Event()

    def beat() -> None:
        for percent in range(100):
            store.heartbeat("w1", [Beat("x", job.fence, percent=percent)], lease=60)
        done.set()

    thread = threading.Thread(target=beat)
    thread.start()
    while not done.is_set():
        assert json.loads(lease.read_bytes())["worker_id"] == "w1"
    thread.join()
    store.close()


def test_a_heartbeat_keeps_a_job_that_runs_longer_than_its_lease(
    store: Backend, rival: Backend, clock: FakeClock
) -> None:
    push(store, "x")
    [job] = store.poll("w1", {"mail": 1}, lease=10)
    for _ in range(5):
        clock.advance(8)
        assert store.heartbeat("w1", [Beat("x", job.fence)], lease=10)[0].held
        assert list(rival.reap()) == []
    assert store.settle([Settlement.of(job, Verdict.ACK)])[0].applied


def test_a_heartbeat_does_not_wait_for_a_poll(tmp_path: Path) -> None:
    store = open_backend(f"file://{tmp_path}?durability=relaxed")
    push(store, "x")
    [job] = store.poll("w1", {"mail": 1}, lease=60)
    waiter = threading.Thread(target=store.wait, args=(["mail"], 30))
    waiter.start()
    before = time.monotonic()
    assert store.heartbeat("w1", [Beat("x", job.fence)], lease=60)[0].held
    assert time.monotonic() - before < 5
    store.wake()
    waiter.join()
    store.close()


def test_times_in_files_name_their_zone(store: Backend, tmp_path: Path) -> None:
    push(store, "x")
    facts = json.loads((tmp_path / "mail" / "pending" / "x" / "task.json").read_text())
    assert facts["created_at"].endswith("Z")
    assert facts["ready_at"].endswith("Z")


@pytest.mark.parametrize("queue", ["24/7", "../../etc", ".hidden", "a/b/c", "x" * 200, "CON"])
def test_no_queue_name_leads_out_of_the_root(tmp_path: Path, queue: str) -> None:
    root = tmp_path / "deep" / "queues"
    store = open_backend(f"file://{root}?durability=relaxed")
    store.push([Message.of(queue, "send", id="../../escape")])
    [job] = store.poll("w/../1", {queue: 1}, lease=60)
    assert (job.id, job.queue) == ("../../escape", queue)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep"]
    assert sorted(path.name for path in (tmp_path / "deep").iterdir()) == ["queues"]
    assert store.settle([Settlement.of(job, Verdict.ACK)])[0].applied
    assert list(store.snapshot().queues) == [queue]
    store.close()


def test_a_root_that_is_gone_is_an_outage_and_not_an_empty_queue(
    tmp_path: Path, clock: FakeClock
) -> None:
    root = tmp_path / "queues"
    store = open_backend(f"file://{root}?durability=relaxed", clock)
    push(store, "x")
    root.rename(tmp_path / "away")
    with pytest.raises(BackendUnavailable):
        store.poll("w1", {"mail": 1}, lease=60)
    (tmp_path / "away").rename(root)
    assert len(store.poll("w1", {"mail": 1}, lease=60)) == 1
    store.close()


def test_a_stopped_holder_of_a_lock_delays_only_its_own_job(store: Backend, tmp_path: Path) -> None:
    import fcntl
    import os

    push(store, "held", "free")
    lock = os.open(tmp_path / "mail" / "pending" / "held", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    assert [job.id for job in store.poll("w1", {"mail": 5}, lease=60)] == ["free"]
    os.close(lock)
    assert [job.id for job in store.poll("w1", {"mail": 5}, lease=60)] == ["held"]
