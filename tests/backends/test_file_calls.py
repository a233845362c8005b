"""How much of the file system the verbs use: calls, syncs, inodes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from ferryman.backends.files import FileBackend
from ferryman.backends.files.disk import LocalDisk
from ferryman.backends.files.location import Location
from ferryman.clock import SystemClock
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.settlement import Settlement

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ferryman.job import Job


class CountingDisk:
    """The real disk, with a count of the calls by name."""

    def __init__(self) -> None:
        self._disk = LocalDisk()
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._disk, name)
        if not callable(found):
            return found

        def call(*args: Any, **options: Any) -> Any:
            self.calls[name] += 1
            return found(*args, **options)

        return call


@pytest.fixture
def disk() -> CountingDisk:
    return CountingDisk()


@pytest.fixture
def store(tmp_path: Path, disk: CountingDisk) -> Iterator[FileBackend]:
    backend = FileBackend(Location(str(tmp_path)), disk, SystemClock())
    warm_up(backend)
    disk.calls.clear()
    yield backend
    backend.close()


def warm_up(store: FileBackend) -> None:
    store.push([Message.of("mail", "send")])
    store.settle([Settlement.of(job, Verdict.ACK) for job in polled(store, 2)])


def polled(store: FileBackend, limit: int) -> list[Job]:
    return list(store.poll("w1", {"mail": limit}, lease=60))


def test_a_push_syncs_its_file_its_folder_and_the_queue(
    store: FileBackend, disk: CountingDisk
) -> None:
    store.push([Message.of("mail", "send")])
    assert disk.calls["sync_folder"] == 2
    assert disk.calls["create"] == 1
    assert disk.calls["names"] <= 1
    assert disk.calls.total() <= 22


def test_a_thousand_pushed_together_share_their_syncs(
    store: FileBackend, disk: CountingDisk
) -> None:
    store.push([Message.of("mail", "send", number) for number in range(1_000)])
    assert disk.calls["sync_all"] <= 10
    assert disk.calls["sync_folder"] / 1_000 <= 0.05


def test_a_claim_never_lists_the_waiting_jobs(store: FileBackend, disk: CountingDisk) -> None:
    store.push([Message.of("mail", "send", number) for number in range(300)])
    disk.calls.clear()
    for _ in range(100):
        [_job] = polled(store, 1)
    assert disk.calls["names"] <= 100  # of the hints, while their folder is young
    assert disk.calls["sync_folder"] == 0
    assert disk.calls.total() / 100 <= 20


def test_an_ack_reads_nothing_but_the_lease(store: FileBackend, disk: CountingDisk) -> None:
    store.push([Message.of("mail", "send")])
    [job] = polled(store, 1)
    disk.calls.clear()
    store.settle([Settlement.of(job, Verdict.ACK)])
    assert disk.calls["read"] == 1
    assert disk.calls["sync_folder"] == 1
    assert disk.calls.total() <= 14


def test_a_job_takes_two_inodes_while_it_waits_and_one_when_it_is_over(
    store: FileBackend, tmp_path: Path
) -> None:
    def inodes() -> int:
        return len(
            {path.stat().st_ino for path in tmp_path.rglob("*") if ".ready" not in str(path)}
        )

    before = inodes()
    store.push([Message.of("mail", "send", number) for number in range(10)])
    assert inodes() - before == 20
    jobs = polled(store, 10)
    assert inodes() - before == 30
    store.settle([Settlement.of(job, Verdict.ACK) for job in jobs])
    assert inodes() - before == 10
