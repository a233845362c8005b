"""Files that cannot be used are set aside with the reason, and hide nothing else."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import pytest

from ferryman.backends.files import FileBackend
from ferryman.errors import BackendRejected
from ferryman.message import Message
from ferryman.queue.open import open_backend
from ferryman.testing.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FileBackend]:
    backend = open_backend(f"file://{tmp_path}?durability=relaxed")
    assert isinstance(backend, FileBackend)
    backend.push([Message.of("mail", "send", id="good")])
    yield backend
    backend.close()


@pytest.fixture
def pending(store: FileBackend, tmp_path: Path) -> Path:
    return tmp_path / "mail" / "pending"


def aged(path: Path) -> None:
    """Let a file be old enough that nobody can be writing it."""
    long_ago = time.time() - 30
    os.utime(path, (long_ago, long_ago))


def broken(pending: Path, name: str, content: bytes) -> Path:
    (pending / name).mkdir()
    task = pending / name / "task.json"
    task.write_bytes(content)
    aged(task)
    return task


def polled(store: FileBackend) -> list[str]:
    return [job.id for job in store.poll("w1", {"mail": 10}, lease=60)]


BROKEN = {
    "torn": b'{"task": "se',
    "empty": b"",
    "binary": b"\xff\xfe\x00",
    "a list": b"[1, 2]",
    "no task": b'{"payload": 1}',
    "task is a number": b'{"task": 7}',
    "a huge number": b'{"task": "send", "max_attempts": 99999999999}',
    "no moment": b'{"task": "send", "ready_at": "tomorrow"}',
    "deep": b'{"task": "send", "payload": ' + b"[" * 5_000 + b"]" * 5_000 + b"}",
    "meta": b'{"task": "send", "meta": [1]}',
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_task_is_set_aside_and_the_others_run(
    store: FileBackend, pending: Path, content: bytes
) -> None:
    broken(pending, "bad", content)
    assert polled(store) == ["good"]
    assert not (pending / "bad").exists()
    aside = pending.parent / "quarantine"
    assert (aside / "bad.json").read_bytes() == content
    [trouble] = store.troubles()
    assert (trouble.queue, trouble.path) == ("mail", str(aside / "bad.json"))
    assert trouble.reason
    assert abs(trouble.at - time.time()) < 60
    assert trouble.reason in (aside / "bad.reason.txt").read_text()


def test_a_job_whose_task_is_damaged_later_is_set_aside(store: FileBackend, pending: Path) -> None:
    task = pending / "good" / "task.json"
    task.write_text("{")
    aged(task)
    assert polled(store) == []
    assert [trouble.path for trouble in store.troubles()] == [
        str(pending.parent / "quarantine" / "good.json")
    ]
    assert store.get("good") is None


def test_a_foreign_file_is_set_aside(store: FileBackend, pending: Path) -> None:
    (pending / "notes.txt").write_text("buy bread")
    aged(pending / "notes.txt")
    assert polled(store) == ["good"]
    assert (pending.parent / "quarantine" / "notes.txt.json").read_text() == "buy bread"


def test_two_bad_files_of_one_name_are_both_kept(store: FileBackend, pending: Path) -> None:
    for content in (b"one", b"two"):
        broken(pending, "bad", content)
        assert wait_until(lambda: polled(store) or not (pending / "bad").exists(), what="a sweep")
    aside = pending.parent / "quarantine"
    assert {path.read_bytes() for path in aside.glob("bad*.json")} == {b"one", b"two"}
    assert len(store.troubles()) == 2


def test_a_mended_file_that_is_moved_back_runs(store: FileBackend, pending: Path) -> None:
    broken(pending, "bad", b"{")
    assert polled(store) == ["good"]
    aside = pending.parent / "quarantine" / "bad.json"
    aside.write_text(json.dumps({"task": "send"}))
    aside.rename(pending / "bad.json")
    assert wait_until(lambda: polled(store), what="a sweep") == ["bad"]


def test_an_id_that_another_queue_has_is_set_aside(store: FileBackend, pending: Path) -> None:
    store.push([Message.of("post", "send", id="other")])
    broken(pending, "other", b'{"task": "print"}')
    assert polled(store) == ["good"]
    [trouble] = store.troubles()
    assert "'post'" in trouble.reason
    job = store.get("other")
    assert job is not None
    assert job.queue == "post"


def test_an_id_that_another_queue_has_never_runs_twice_however_new_its_file_is(
    store: FileBackend, pending: Path
) -> None:
    store.push([Message.of("post", "send", id="other")])
    (pending / "other.json").write_text('{"task": "print"}')
    assert polled(store) == ["good"]
    assert polled(store) == []
    assert [trouble.reason for trouble in store.troubles()] == [
        "the job 'other' is in queue 'post' already: give this another name"
    ]


def test_a_damaged_record_hides_no_other(store: FileBackend, pending: Path) -> None:
    (pending.parent / "completed" / "odd.json").write_text("{")
    with pytest.raises(
        BackendRejected, match=r"completed/odd\.json cannot be read: it is not JSON"
    ):
        store.get("odd")
    assert store.get("good") is not None
    assert store.snapshot().queues["mail"].states["pending"] == 1  # type: ignore[index]
