"""What happens between two calls of a process: another one, or somebody's hands, were quicker."""

from __future__ import annotations

import fcntl
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from ferryman.backends.files.disk import LocalDisk
from ferryman.backends.files.line import Line
from ferryman.errors import BackendUnavailable
from ferryman.job import JobError, State
from ferryman.lifecycle import Verdict
from ferryman.queue.settlement import Settlement
from ferryman.retry import Backoff
from ferryman.testing.clock import FakeClock
from tests.backends.met.disk import MetDisk, ids, opened, polled, push

if TYPE_CHECKING:
    from pathlib import Path

    from ferryman.backends.files import FileBackend

DAY = 86_400.0
AT_ONCE = Backoff(base=0, jitter=0).text()


def sweep(store: FileBackend) -> None:
    """Now, and not when it is time to."""
    store._desk.sweeper.sweep(store._store.folders("mail"))


def fail(store: FileBackend) -> None:
    [job] = polled(store)
    error = JobError(1, 0.0, "w", "ValueError", "boom")
    assert store.settle([Settlement.of(job, Verdict.FAIL, error=error)])[0].applied


def test_a_job_that_is_removed_by_hand_under_a_poll_keeps_no_other_from_it(
    store: FileBackend, disk: MetDisk, mail: Path
) -> None:
    push(store, "gone", "here")
    disk.meet("link", "lease.json", lambda: shutil.rmtree(mail / "pending" / "gone"))
    assert ids(polled(store)) == ["here"]
    assert store.get("gone") is None


def test_a_root_that_is_removed_under_a_poll_is_an_outage(
    store: FileBackend, disk: MetDisk, mail: Path
) -> None:
    push(store, "job")
    disk.meet("link", "lease.json", lambda: shutil.rmtree(mail.parent))
    with pytest.raises(BackendUnavailable):
        polled(store)


def test_a_lease_that_appears_under_a_poll_is_not_taken_for_its_own(
    store: FileBackend, disk: MetDisk, mail: Path, tmp_path: Path
) -> None:
    push(store, "job")
    other = opened(tmp_path / "other", FakeClock())
    push(other, "job")
    [theirs] = other.poll("theirs", {"mail": 1}, lease=60)
    lease = tmp_path / "other" / "mail" / "pending" / "job" / "lease.json"
    there = mail / "pending" / "job" / "lease.json"
    disk.meet("link", "lease.json", lambda: shutil.copy(lease, there))
    assert polled(store) == []
    job = store.get("job")
    assert job is not None
    assert job.worker == theirs.worker
    other.close()


def test_a_dropped_file_that_two_processes_find_is_taken_in_once(
    store: FileBackend, rival: FileBackend, disk: MetDisk, mail: Path
) -> None:
    push(store, "first")
    (mail / "pending" / "x.json").write_text('{"task": "send"}')
    disk.meet("make_folder", "/pending/x", lambda: sweep(rival))
    sweep(store)
    assert ids(polled(store)) == ["first", "x"]
    assert store.troubles() == []
    assert list((mail / "quarantine").iterdir()) == []


def test_a_foreign_file_that_two_processes_find_is_set_aside_once(
    store: FileBackend, rival: FileBackend, disk: MetDisk, mail: Path
) -> None:
    push(store, "first")
    foreign = mail / "pending" / "notes.txt"
    foreign.write_text("mine")
    os.utime(foreign, (1, 1))
    disk.meet("rename", "/quarantine/notes.txt.json", lambda: sweep(rival))
    sweep(store)
    [trouble] = store.troubles()
    assert trouble.reason == "it is no task.json and no folder of one"


def test_a_record_that_is_written_again_under_a_prune_stays(
    store: FileBackend, rival: FileBackend, disk: MetDisk, clock: FakeClock
) -> None:
    push(store, "job")
    fail(store)
    clock.advance(2 * DAY)

    def again() -> None:
        rival.retry(["job"])
        fail(rival)

    # Between the look at all records and the first that goes.
    disk.meet("sync_folder", "/mail/pending", again)
    assert store.prune(older_than=DAY) == 0
    job = store.get("job")
    assert job is not None
    assert job.generation == 2


def test_a_torn_lease_is_charged_to_the_last_of_the_claims_that_lead_to_it(
    store: FileBackend, rival: FileBackend, mail: Path
) -> None:
    push(store, "job", backoff=AT_ONCE)
    [job] = polled(store)
    # Settled by another process: the name of the first claim stays in the index.
    rival.settle([Settlement.of(job, Verdict.NACK, delay=0.0)])
    [job] = polled(store)
    lease = mail / "pending" / "job" / "lease.json"
    lease.unlink()
    lease.write_bytes(b"")
    assert [reaped.id for reaped in rival.reap()] == ["job"]
    [again] = polled(rival)
    assert (again.fence, again.attempts) == (3, 3)


def test_a_torn_lease_that_only_an_old_claim_leads_to_leaves_its_job_in_line(
    store: FileBackend, rival: FileBackend, mail: Path
) -> None:
    push(store, "job")
    [job] = polled(store)
    rival.settle([Settlement.of(job, Verdict.NACK, delay=0.0)])
    [job] = polled(store)
    [newest] = (mail.parent / ".leases" / "w" / "mail").glob("job,2.*")
    newest.unlink()
    lease = mail / "pending" / "job" / "lease.json"
    lease.unlink()
    lease.write_bytes(b"")
    rival.reap()
    assert ids(polled(store)) == ["job"]


def test_a_log_that_was_made_again_is_not_dropped_for_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "log")
    one, two = LocalDisk(durable=False), LocalDisk(durable=False)
    one.append(path, b"old\n")
    flock = fcntl.flock

    def overtaken(file: int, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", flock)
        assert two.drop(path, 4)
        two.append(path, b"new\n")
        flock(file, how)

    monkeypatch.setattr(fcntl, "flock", overtaken)
    assert one.drop(path, 4)
    assert one.read(path) == b"new\n"
    one.close()
    two.close()


def test_a_log_that_was_made_again_with_its_old_inode_is_read_anew(
    store: FileBackend, mail: Path
) -> None:
    push(store, "a", "b")
    line = Line(store._store, str(mail / ".ready"))
    line.start()
    now = store.clock.now()
    assert [each.id for each in (line.take(now), line.take(now)) if each] == ["a", "b"]
    [log] = (mail / ".ready").glob("0.*")
    only = log.read_bytes().splitlines()[1]
    with log.open("r+b") as file:  # what a file system may make of a new file: the same inode
        file.truncate()
        file.write(b"\n" + only.replace(b'"a"', b'"c"') + b"\n")
    line.start()
    found = line.take(now)
    assert found is not None
    assert found.id == "c"


def test_a_push_that_was_stopped_for_hours_is_not_swept_away(
    store: FileBackend, rival: FileBackend, disk: MetDisk, mail: Path
) -> None:
    push(rival, "first")

    def hours_pass() -> None:
        tmp = mail.parent / ".tmp"
        for path in [*tmp.rglob("*"), tmp]:
            os.utime(path, (1, 1))
        sweep(rival)

    disk.meet("move_folder", "/pending/late", hours_pass)
    push(store, "late")
    job = store.get("late")
    assert job is not None
    assert job.state is State.PENDING


@pytest.mark.parametrize("removed", [".ready", ".expiring"])
@pytest.mark.parametrize("used", [False, True], ids=["at rest", "and pushed to"])
def test_hints_that_are_removed_under_a_running_worker_are_made_again(  # noqa: PLR0917
    store: FileBackend, rival: FileBackend, clock: FakeClock, mail: Path, removed: str, used: bool
) -> None:
    push(store, "first")
    assert ids(polled(store, 1)) == ["first"]
    assert store.reap() == []
    push(rival, "before")
    push(rival, "late", expires=5)
    shutil.rmtree(mail / removed)
    if used:
        push(rival, "after", expires=50)
    store.reap()  # finds out that they are gone
    clock.advance(10)
    claimed = ids([*polled(store), *polled(store)])
    assert sorted(claimed) == (["after", "before"] if used else ["before"])
    assert [each.id for each in store.reap()] == ["late"]
