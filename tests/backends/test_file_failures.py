"""A disk that fails at any call: nothing acknowledged is lost, and the store says what happened."""

from __future__ import annotations

import contextlib
import errno
from typing import TYPE_CHECKING, Any

import pytest

from ferryman.backends.files import FileBackend
from ferryman.backends.files.disk import LocalDisk, SyncFailed
from ferryman.backends.files.location import Location
from ferryman.clock import SystemClock
from ferryman.errors import BackendUnavailable, OutcomeUnknown
from ferryman.filter import Filter
from ferryman.job import State
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.settlement import Settlement
from ferryman.testing.clock import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class FaultyDisk:
    """The real disk, which raises at the calls that `fails` picks by number and name."""

    def __init__(self, fails: Callable[[int, str], OSError | None]) -> None:
        self._disk = LocalDisk(durable=False)
        self._fails = fails
        self.calls = 0

    @property
    def together(self) -> int | None:
        return self._disk.together

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._disk, name)

        def call(*args: Any, **options: Any) -> Any:
            self.calls += 1
            error = self._fails(self.calls, name)
            if error is not None:
                if name == "unlock":  # whatever close answers, the descriptor is closed
                    method(*args, **options)
                raise error
            return method(*args, **options)

        return call


def opened(root: Path, disk: Any = None, clock: Any = None) -> FileBackend:
    location = Location(str(root), durable=False)
    return FileBackend(location, disk or LocalDisk(durable=False), clock or SystemClock())


def never(_: int, __: str) -> OSError | None:
    return None


class Run:
    """Push two jobs, fail one claim, ack the other with a child; what was acknowledged."""

    def __init__(self) -> None:
        self.pushed: set[str] = set()
        self.acked: set[str] = set()
        self.nacked: set[str] = set()

    def work(self, store: FileBackend) -> None:
        for job_id in ("a", "b", "c"):
            store.push([Message.of("mail", "send", job_id, id=job_id)])
            self.pushed.add(job_id)
        for job in store.poll("w1", {"mail": 3}, lease=60):
            if job.id == "a":
                child = Message.of("pages", "send", id="child")
                receipts = store.settle([Settlement.of(job, Verdict.ACK, children=(child,))])
                self.acked |= {each.job_id for each in receipts if each.applied}
            elif job.id == "b":
                receipts = store.settle([Settlement.of(job, Verdict.NACK, delay=0.0)])
                self.nacked |= {each.job_id for each in receipts if each.applied}
        store.cancel(["b"])
        store.retry(["b"])

    def check(self, root: Path) -> None:
        """A later process finds everything that was acknowledged, once, and can finish the rest."""
        clock = FakeClock(2e9)
        store = opened(root, clock=clock)
        for job_id in self.acked:
            job = store.get(job_id)
            assert job is not None
            assert job.state is State.COMPLETED
            assert store.get("child") is not None
        store.reap()
        clock.advance(3_600)
        jobs = {job.id: job for job in store.poll("w2", {"mail": 9, "pages": 9}, lease=60)}
        for job_id in self.pushed:
            found = store.get(job_id)
            assert found is not None, f"{job_id} was acknowledged and is lost"
            assert found.state.terminal or job_id in jobs, f"nobody can claim {job_id}: {found}"
        receipts = store.settle([Settlement.of(job, Verdict.ACK) for job in jobs.values()])
        assert all(receipt.applied for receipt in receipts)
        assert store.list(Filter.parse("-state:completed,cancelled")).jobs == ()
        store.close()


def calls_of_a_run(tmp_path: Path) -> int:
    disk = FaultyDisk(never)
    store = opened(tmp_path / "counted", disk)
    before = disk.calls
    Run().work(store)
    store.close()
    return disk.calls - before


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO], ids=["full", "broken"])
def test_one_failing_call_loses_nothing_that_was_acknowledged(tmp_path: Path, code: int) -> None:
    for number in range(calls_of_a_run(tmp_path)):
        root = tmp_path / f"{number}"
        opened(root).close()
        disk = FaultyDisk(never)
        store = opened(root, disk)
        start = disk.calls

        def fails(call: int, _: str, wanted: int = start + number + 1) -> OSError | None:
            return OSError(code, "injected") if call == wanted else None

        disk._fails = fails
        run = Run()
        with contextlib.suppress(BackendUnavailable):
            run.work(store)
        run.check(root)


def test_a_disk_that_stays_full_refuses_and_recovers_alone(tmp_path: Path) -> None:
    full = False

    def fails(_: int, name: str) -> OSError | None:
        return OSError(errno.ENOSPC, "no space") if full and name in ("create", "append") else None

    store = opened(tmp_path, FaultyDisk(fails))
    store.push([Message.of("mail", "send", id="a")])
    [job] = store.poll("w1", {"mail": 1}, lease=60)
    full = True
    with pytest.raises(BackendUnavailable, match="full"):
        store.push([Message.of("mail", "send", id="b")])
    with pytest.raises(BackendUnavailable, match="full"):
        store.settle([Settlement.of(job, Verdict.ACK)])
    full = False
    assert store.settle([Settlement.of(job, Verdict.ACK)])[0].applied
    assert store.push([Message.of("mail", "send", id="b")])[0].created
    store.close()


def test_after_a_failed_fsync_nothing_more_is_acknowledged(tmp_path: Path) -> None:
    broken = False

    def fails(_: int, name: str) -> OSError | None:
        return SyncFailed(errno.EIO, "i/o error") if broken and name == "sync_folder" else None

    store = opened(tmp_path, FaultyDisk(fails))
    store.push([Message.of("mail", "send", id="a")])
    broken = True
    with pytest.raises(OutcomeUnknown, match="fsync failed"):
        store.push([Message.of("mail", "send", id="b")])
    broken = False
    for _ in range(2):
        with pytest.raises(BackendUnavailable, match="open the store again"):
            store.push([Message.of("mail", "send", id="c")])
    with pytest.raises(BackendUnavailable):
        store.poll("w1", {"mail": 1}, lease=60)
    store.close()
    again = opened(tmp_path)
    assert again.push([Message.of("mail", "send", id="b")])[0].status in ("created", "existing")
    again.close()


def test_a_batch_that_breaks_off_in_the_middle_says_that_it_may_have_happened(
    tmp_path: Path,
) -> None:
    broken = False

    def fails(_: int, name: str) -> OSError | None:
        return OSError(errno.EIO, "i/o error") if broken and name == "move_folder" else None

    store = opened(tmp_path, FaultyDisk(fails))
    store.push([Message.of("mail", "send", id="a")])
    broken = True
    messages = [Message.of("mail", "send", id=f"m{number}") for number in range(3)]
    with pytest.raises(OutcomeUnknown, match="same ids"):
        store.push(messages)
    broken = False
    assert {answer.status for answer in store.push(messages)} <= {"created", "existing"}
    assert len(store.poll("w1", {"mail": 9}, lease=60)) == 4
    store.close()
