"""What people leave in a job's folder, link to, mend or move back is not lost, nor in the way."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from ferryman.job import State
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.retry import Backoff
from ferryman.testing.clock import FakeClock
from tests.backends.hands import LONG_AGO, claim, drop, end, files, reasons, spoil, sweep
from tests.backends.met.disk import MetDisk, ids, opened, push

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ferryman.backends.files import FileBackend

AT_ONCE = Backoff(base=0, jitter=0).text()


@pytest.fixture
def disk() -> MetDisk:
    return MetDisk()


@pytest.fixture
def store(tmp_path: Path, disk: MetDisk) -> Iterator[FileBackend]:
    backend = opened(tmp_path / "queues", FakeClock(), disk)
    yield backend
    backend.close()


@pytest.fixture
def mail(tmp_path: Path) -> Path:
    return tmp_path / "queues" / "mail"


def tried_twice(store: FileBackend, job_id: str = "a") -> None:
    push(store, job_id, backoff=AT_ONCE, max_attempts=3)
    end(store, Verdict.NACK)
    end(store, Verdict.NACK)


# -- set aside, mended, moved back


def test_the_note_names_a_history_that_cannot_be_read(store: FileBackend, mail: Path) -> None:
    tried_twice(store)
    history = mail / "pending" / "a" / "history.json"
    spoil(history)
    os.utime(mail / "pending" / "a" / "task.json", (LONG_AGO, LONG_AGO))
    assert claim(store) == []
    [reason] = reasons(store)
    assert reason.startswith(f"{history} cannot be read: it is not JSON")
    assert files(mail / "quarantine") == ["a.history.json", "a.json", "a.reason.txt"]


@pytest.mark.parametrize("file", ["task", "history"])
def test_a_mended_job_that_is_moved_back_goes_on_where_it_stood(
    store: FileBackend, mail: Path, file: str
) -> None:
    tried_twice(store)
    whole = spoil(mail / "pending" / "a" / f"{file}.json")
    os.utime(mail / "pending" / "a" / "task.json", (LONG_AGO, LONG_AGO))
    assert claim(store) == []
    aside = mail / "quarantine"
    (aside / ("a.json" if file == "task" else "a.history.json")).write_text(whole)
    (aside / "a.json").rename(mail / "pending" / "a.json")
    sweep(store)
    [job] = claim(store)
    assert (job.id, job.attempts, job.fence) == ("a", 3, 3)
    known = store.get("a")
    assert known is not None
    assert len(known.errors) == 2
    assert files(aside) == ["a.reason.txt"]


def test_a_job_moved_back_beside_a_history_that_is_still_torn_is_set_aside_again(
    store: FileBackend, mail: Path
) -> None:
    tried_twice(store)
    spoil(mail / "pending" / "a" / "history.json")
    os.utime(mail / "pending" / "a" / "task.json", (LONG_AGO, LONG_AGO))
    assert claim(store) == []
    (mail / "quarantine" / "a.json").rename(mail / "pending" / "a.json")
    sweep(store)
    assert claim(store) == []
    assert files(mail / "quarantine") == ["a.history.json", "a.json", "a.reason.txt"]


def test_a_new_job_does_not_get_the_history_of_an_old_one(store: FileBackend, mail: Path) -> None:
    tried_twice(store)
    spoil(mail / "pending" / "a" / "task.json")
    assert claim(store) == []
    (mail / "quarantine" / "a.json").unlink()
    push(store, "a")
    (mail / "pending" / "a").chmod(0o700)  # as a killed push leaves it
    sweep(store)
    assert [(job.attempts, job.fence) for job in claim(store)] == [(1, 1)]
    assert "a.history.json" in files(mail / "quarantine")


def test_a_mended_job_waits_for_a_key_that_another_has_taken_meanwhile(
    store: FileBackend, mail: Path
) -> None:
    push(store, "a", key="ana", backoff=AT_ONCE)
    end(store, Verdict.NACK)
    whole = spoil(mail / "pending" / "a" / "task.json")
    assert claim(store) == []
    push(store, "b", key="ana")
    (mail / "quarantine" / "a.json").unlink()
    (mail / "pending" / "a.json").write_text(whole)
    sweep(store)
    assert ids(claim(store)) == ["b"]
    assert files(mail / "quarantine") == ["a.history.json", "a.json", "a.reason.txt"]


# -- strangers in a job's folder


@pytest.mark.parametrize("verdict", [Verdict.ACK, Verdict.FAIL])
def test_what_people_left_in_a_jobs_folder_is_set_aside_when_the_job_ends(
    store: FileBackend, mail: Path, verdict: Verdict
) -> None:
    push(store, "a")
    (mail / "pending" / "a" / "task.json~").write_text("precious")
    end(store, verdict)
    assert files(mail / "pending") == []
    assert (mail / "quarantine" / "a.task.json~.json").read_text() == "precious"
    assert reasons(store) == ["somebody left it in the folder of job 'a', which is gone"]


def test_what_people_left_in_a_jobs_folder_keeps_nobody_from_its_id(
    store: FileBackend, mail: Path
) -> None:
    push(store, "a")
    (mail / "pending" / "a" / "task.json~").write_text("precious")
    assert store.delete(["a"])[0].refused is None
    assert store.push([Message.of("mail", "send", id="a")])[0].created
    assert (mail / "quarantine" / "a.task.json~.json").exists()


def test_a_folder_that_a_killed_process_left_keeps_nobody_from_a_retry(
    store: FileBackend, mail: Path
) -> None:
    push(store, "a")
    end(store, Verdict.FAIL)
    (mail / "pending" / "a").mkdir()
    (mail / "pending" / "a" / "task.json~").write_text("precious")
    assert store.retry(["a"])[0].state is State.PENDING
    assert ids(claim(store)) == ["a"]
    assert (mail / "quarantine" / "a.task.json~.json").exists()


def test_what_cannot_be_set_aside_keeps_no_job_from_its_end(
    store: FileBackend, disk: MetDisk, mail: Path
) -> None:
    def refuse() -> None:
        raise PermissionError(13, "not allowed", "task.json~")

    push(store, "a")
    (mail / "pending" / "a" / "task.json~").write_text("precious")
    disk.meet("rename", "/quarantine/a.task.json~.json", refuse)
    end(store)
    job = store.get("a")
    assert job is not None
    assert job.state is State.COMPLETED
    assert files(mail / "pending" / "a") == ["task.json~"]


# -- links


def test_a_link_is_read_where_it_leads(store: FileBackend, mail: Path) -> None:
    push(store, "first")
    end(store)
    (mail / "template.json").write_text(json.dumps({"task": "send", "payload": 7}))
    (mail / "pending" / "x.json").symlink_to("../template.json")
    sweep(store)
    assert [(job.id, job.payload) for job in claim(store)] == [("x", 7)]
    assert files(mail / "pending") == ["x"]
    assert not (mail / "pending" / "x" / "task.json").is_symlink()
    assert (mail / "template.json").exists()


def test_a_link_to_nowhere_is_set_aside(store: FileBackend, mail: Path) -> None:
    push(store, "first")
    link = mail / "pending" / "x.json"
    link.symlink_to("nowhere")
    os.utime(link, (LONG_AGO, LONG_AGO), follow_symlinks=False)
    sweep(store)
    assert ids(claim(store)) == ["first"]
    assert reasons(store) == ["it is a link that leads nowhere"]
    assert (mail / "quarantine" / "x.json").is_symlink()


@pytest.mark.parametrize("kind", ["link", "folder"])
def test_a_task_that_is_no_file_is_set_aside_in_the_end(
    store: FileBackend, mail: Path, kind: str
) -> None:
    push(store, "first")
    task = mail / "pending" / "x" / "task.json"
    task.parent.mkdir()
    task.symlink_to("nowhere") if kind == "link" else task.mkdir()
    os.utime(task.parent, (LONG_AGO, LONG_AGO))
    sweep(store)
    assert reasons(store) == ["its task.json is no file, and no link to one"]
    assert files(mail / "pending") == ["first"]


def test_a_dropped_file_that_another_process_has_taken_and_ended_is_left_to_it(
    store: FileBackend, disk: MetDisk, mail: Path, tmp_path: Path
) -> None:
    push(store, "first")
    end(store)
    drop(mail, "x")
    rival = opened(tmp_path / "queues", FakeClock())

    def quicker() -> None:
        sweep(rival)
        end(rival)

    disk.meet("make_folder", "/pending/x", quicker)
    sweep(store)
    job = store.get("x")
    assert job is not None
    assert job.state is State.COMPLETED
    assert files(mail / "pending") == []
    rival.close()


# -- purge


def test_a_purge_takes_what_was_just_dropped(store: FileBackend, mail: Path) -> None:
    push(store, "first")
    drop(mail, "flat")
    assert store.purge("mail") == 2
    assert files(mail / "pending") == []
    assert files(mail / "quarantine") == []
