"""Whatever people leave in a queue's folders, it stops no other job and reaches no other place."""

from __future__ import annotations

import errno
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ferryman.backends.files import FileBackend
from ferryman.backends.files.disk import LocalDisk
from ferryman.backends.files.location import Location
from ferryman.clock import SystemClock
from ferryman.filter import Filter
from ferryman.job import JobError, State
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.open import open_backend
from ferryman.queue.settlement import Settlement
from ferryman.service.move import copy
from ferryman.testing.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ferryman.job import Job

LONG_AGO = 1_700_000_000.0
"""Old enough that nobody can be writing the file."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "below" / "queues"


@pytest.fixture
def store(root: Path) -> Iterator[FileBackend]:
    backend = opened(root)
    backend.push([Message.of("mail", "send", {"a": 1}, id=name) for name in ("odd", "good")])
    yield backend
    backend.close()


@pytest.fixture
def pending(root: Path, store: FileBackend) -> Path:
    return root / "mail" / "pending"


def opened(root: Path) -> FileBackend:
    backend = open_backend(f"file://{root}?durability=relaxed")
    assert isinstance(backend, FileBackend)
    return backend


def aged(path: Path) -> None:
    os.utime(path, (LONG_AGO, LONG_AGO), follow_symlinks=False)


def edit(file: Path, **change: Any) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    aged(file)


def polled(store: FileBackend, limit: int = 10) -> list[Job]:
    return list(store.poll("w1", {"mail": limit}, lease=60))


def listed(store: FileBackend) -> set[str]:
    return {job.id for job in store.list(Filter()).jobs}


def everything_works(store: FileBackend) -> None:
    """Every verb that goes through a queue finds what is good."""
    store.reap()
    assert "good" in {job.id for job in polled(store)}
    assert "good" in listed(store)
    assert store.snapshot().queues["mail"].states[State.PROCESSING] >= 1
    store.troubles()
    store.diagnose(deep=True)


WRONG: dict[str, Any] = {
    "priority": ["high", 5.5, None, True, 10**30, "../../../escaped"],
    "task": [7, None, "", "x" * 300, "a\nb"],
    "id": [5, None, ""],
    "meta": ["abc", ["a"], {"a": 1}],
    "max_attempts": ["5", 0, None],
    "version": ["x", 0],
    "backoff": [5, "garbage"],
    "timeout": ["abc", -1],
    "key": [7],
    "correlation_id": [5],
    "tenant": [5],
    "seq": ["x", None, 1.5],
    "revision": ["x"],
    "ready_at": [None, "tomorrow", True],
    "created_at": ["x"],
    "deadline": ["x"],
    "fence": ["x", 1e250, 10**30, -1],
    "attempts": [10**30, 1.5],
    "percent": ["50\ud83d"],
    "errors": ["x", 5, ["x"], [{"attempt": 1}]],
    "logs": [[["x"]], 5],
    "state": ["bad"],
    "payload": ["\ud800"],
}
CASES = [(name, value) for name, values in WRONG.items() for value in values]


@pytest.mark.parametrize("marked", [True, False], ids=["edited", "dropped"])
@pytest.mark.parametrize("case", CASES, ids=ascii)
def test_a_field_of_a_wrong_type_sets_its_job_aside_and_stops_no_other(
    store: FileBackend, pending: Path, root: Path, case: tuple[str, Any], marked: bool
) -> None:
    name, value = case
    change = {"fence": 1} if name in ("logs", "errors", "percent") else {}
    edit(pending / "odd" / "task.json", **change | {name: value})
    if not marked:
        (pending / "odd").chmod(0o755)
    [job] = wait_until(lambda: [one for one in polled(store) if one.id == "good"])
    receipts = store.settle([Settlement.of(job, Verdict.NACK, error=JobError(1, 0, "w1", "E", ""))])
    assert receipts[0].applied
    wait_until(lambda: polled(store) or store.troubles())
    [trouble] = store.troubles()
    assert (root / "mail" / "quarantine" / "odd.json").exists()
    assert trouble.reason
    assert listed(store) == {"good"}
    assert {path.name for path in root.parent.iterdir()} == {"queues"}


class Guarded(LocalDisk):
    """Nobody may put anything into the folder of the job `guarded`."""

    def rename(self, path: str, new: str, *, at: int | None = None) -> None:
        if at is not None and Path(f"/proc/self/fd/{at}").readlink().name == "guarded":
            raise PermissionError(errno.EPERM, "Operation not permitted", path, None, new)
        super().rename(path, new, at=at)


def test_a_folder_that_may_not_be_changed_stops_no_other(root: Path, store: FileBackend) -> None:
    (root / "mail" / "pending" / "guarded").mkdir()
    (root / "mail" / "pending" / "guarded" / "task.json").write_text('{"task": "send"}')
    other = FileBackend(Location(str(root), durable=False), Guarded(durable=False), SystemClock())
    everything_works(other)
    other.close()


@pytest.mark.parametrize(
    "change", [{"meta": "abc"}, {"id": 5}, {"seq": "5"}, {"task": 5}, {"errors": 5}]
)
def test_a_record_with_a_wrong_field_hides_no_other(
    store: FileBackend, root: Path, change: dict[str, Any]
) -> None:
    record = {"task": "send", "state": "failed"} | change
    (root / "mail" / "failed" / "x.json").write_text(json.dumps(record))
    everything_works(store)
    [trouble] = store.troubles()
    assert trouble.path.endswith("failed/x.json")


@pytest.mark.parametrize(
    "change",
    [{"boottime": "x"}, {"worker_id": 5}, {"expires_at": "x"}, {"note": 5}, {"fence": "x"}],
)
def test_a_lease_that_nobody_can_read_is_lost_and_charged(
    store: FileBackend, pending: Path, change: dict[str, Any]
) -> None:
    [job] = polled(store, 1)
    edit(pending / job.id / "lease.json", **change)
    assert [one.id for one in store.reap()] == [job.id]
    again = store.get(job.id)
    assert again is not None
    assert (again.state, again.attempts, again.fence) == (State.PENDING, 1, 1)
    [receipt] = store.settle([Settlement.of(job, Verdict.ACK)])
    assert not receipt.applied


def test_a_task_that_is_being_written_when_its_lease_ends_is_not_lost(
    store: FileBackend, pending: Path
) -> None:
    jobs = store.poll("w1", {"mail": 1}, lease=0.001)
    task = pending / jobs[0].id / "task.json"
    whole = task.read_text()
    task.write_text(whole[:20])
    wait_until(lambda: time.time() > (jobs[0].expires_at or 0))
    assert store.reap() == []
    task.write_text(whole)
    assert [one.id for one in wait_until(store.reap)] == [jobs[0].id]


def _folder(name: str) -> Callable[[Path], None]:
    def drop(pending: Path) -> None:
        (pending / name).mkdir()
        (pending / name / "task.json").write_text('{"task": "send"}')

    return drop


def _file(name: str) -> Callable[[Path], None]:
    def drop(pending: Path) -> None:
        (pending / name).write_text('{"task": "send"}')

    return drop


@pytest.mark.parametrize(
    ("drop", "job_id"),
    [
        (_file("my job.json"), "my job"),
        (_file("invoice(3).json"), "invoice(3)"),
        (_file("a%2Fb.json"), "a/b"),
        (_file("100%.json"), "100%"),
        (_folder("report@today"), "report@today"),
        (_folder("é"), "é"),
    ],
)
def test_a_dropped_job_of_any_ordinary_name_runs_and_is_found_by_it(
    store: FileBackend, pending: Path, drop: Callable[[Path], None], job_id: str
) -> None:
    drop(pending)
    claimed: list[Job] = []

    def taken_in() -> bool:
        claimed.extend(polled(store))
        return job_id in {job.id for job in claimed}

    wait_until(taken_in)
    job = store.get(job_id)
    assert job is not None
    [receipt] = store.settle([Settlement.of(job, Verdict.ACK)])
    assert (receipt.applied, receipt.state) == (True, State.COMPLETED)


BYTES = os.fsdecode(b"\xff")


def _fifo(pending: Path) -> None:
    (pending / "x").mkdir()
    os.mkfifo(pending / "x" / "task.json")


def _loop(pending: Path) -> None:
    (pending / "x").mkdir()
    (pending / "x" / "task.json").symlink_to("task.json")


def _dangling(pending: Path) -> None:
    (pending / "x.json").symlink_to("nowhere")


def _torn(pending: Path) -> None:
    (pending / f"{'x' * 250}.json").write_text("{")
    aged(pending / f"{'x' * 250}.json")


def _folder_for_a_task(pending: Path) -> None:
    (pending / "x" / "task.json").mkdir(parents=True)


def _hints(*lines: str) -> Callable[[Path], None]:
    def append(pending: Path) -> None:
        [log] = (pending.parent / ".ready").glob("0.*")
        with log.open("a") as file:
            file.writelines(f"{line}\n" for line in lines)

    return append


ODD: dict[str, Callable[[Path], None]] = {
    "a folder of 255 bytes": _folder("x" * 255),
    "a file of 255 bytes": _file("x" * 250 + ".json"),
    "a torn file of 255 bytes": _torn,
    "a folder that is not UTF-8": _folder(BYTES),
    "a file that is not UTF-8": _file(f"{BYTES}.json"),
    "a pipe": _fifo,
    "a link to itself": _loop,
    "a link to nowhere": _dangling,
    "a folder in the place of a task": _folder_for_a_task,
    "a file beside the queues": lambda pending: (pending.parents[1] / "README").touch(),
    "a folder beside the queues": lambda pending: (pending.parents[1] / "lost+found").mkdir(),
    "a queue that is not UTF-8": lambda pending: (pending.parents[1] / BYTES).mkdir(),
    "a hint of wrong types": _hints('["x",1,"send","good"]', '[1,"x","send","good"]', "[" * 5_000),
    "a folder among the hints": lambda pending: (pending.parent / ".ready" / "0.1m").mkdir(),
}


@pytest.mark.parametrize("name", ODD)
def test_nothing_that_lies_about_stops_a_queue(
    store: FileBackend, pending: Path, root: Path, name: str
) -> None:
    ODD[name](pending)
    everything_works(store)
    other = opened(root)
    other.reap()
    assert "good" in listed(other)
    other.close()


def test_a_folder_without_a_task_is_set_aside_in_the_end(store: FileBackend, pending: Path) -> None:
    (pending / "notes").mkdir()
    (pending / "notes" / "todo.txt").write_text("precious")
    aged(pending / "notes")
    wait_until(lambda: polled(store) or store.troubles())
    [trouble] = store.troubles()
    assert trouble.reason == "there is no task.json in it"
    assert (pending.parent / "quarantine" / "notes.json" / "todo.txt").read_text() == "precious"


def test_what_cannot_be_carried_is_named_when_jobs_are_copied(
    store: FileBackend, root: Path, tmp_path: Path
) -> None:
    (root / "mail" / "failed" / "torn.json").write_text("{")
    (root / "mail" / "pending" / "late.json").write_text('{"task": "send"}')
    target = opened(tmp_path / "target")
    done = copy(store, target, Filter())
    assert done.carried == 2
    assert {left.id.rpartition("/")[2] for left in done.left} == {"torn.json", "late.json"}
    assert copy(store, target, Filter.parse("queue:other")).left == []
    target.close()


@pytest.mark.parametrize("queue", ["é" * 150, "a b " * 45 + "x", "日本" * 90, "24/7", ".."])
def test_a_queue_of_any_name_is_found_again_by_it(root: Path, queue: str) -> None:
    first = opened(root)
    first.push([Message.of(queue, "send", id="one"), Message.of(queue, "send", id="two")])
    other = opened(root)
    [job] = other.poll("w1", {queue: 1}, lease=0.001)
    assert {one.id for one in first.list(Filter.parse(f'queue:"{queue}"')).jobs} == {"one", "two"}
    assert first.snapshot().queues[queue].states == {State.PENDING: 1, State.PROCESSING: 1}
    assert first.depth(queue, 10) == 1
    [reaped] = wait_until(first.reap)
    assert (reaped.id, reaped.queue) == (job.id, queue)
    first.close()
    other.close()


def test_a_job_that_is_edited_to_be_due_now_runs_within_a_minute(
    root: Path, store: FileBackend
) -> None:
    store.push([Message.of("mail", "send", id="later", delay=7_200)])
    polled(store)
    looked = root / "mail" / ".ready" / "looked"
    looked.touch()
    task = root / "mail" / "pending" / "later" / "task.json"
    edit(task, ready_at="2020-01-01T00:00:00Z")
    soon = time.time() + 5
    os.utime(task, (soon, soon))
    aged(looked)
    [job] = wait_until(lambda: polled(store))
    assert job.id == "later"


def test_a_job_whose_priority_is_raised_by_hand_overtakes_the_others(
    root: Path, store: FileBackend
) -> None:
    task = root / "mail" / "pending" / "good" / "task.json"
    edit(task, priority=10)
    soon = time.time() + 5
    os.utime(task, (soon, soon))
    (root / "mail" / ".ready" / "looked").touch()
    aged(root / "mail" / ".ready" / "looked")
    store.reap()
    [first] = polled(store, 1)
    assert (first.id, first.priority) == ("good", 10)
