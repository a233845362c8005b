"""What people drop under an id or a key that is in use is kept, and told."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from ferryman.job import State
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.testing.clock import FakeClock
from tests.backends.hands import claim, drop, end, files, reasons, sweep
from tests.backends.met.disk import MetDisk, ids, opened, push

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ferryman.backends.files import FileBackend


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "queues"


@pytest.fixture
def disk() -> MetDisk:
    return MetDisk()


@pytest.fixture
def store(root: Path, disk: MetDisk) -> Iterator[FileBackend]:
    backend = opened(root, FakeClock(), disk)
    yield backend
    backend.close()


@pytest.fixture
def rival(root: Path, store: FileBackend) -> Iterator[FileBackend]:
    backend = opened(root, FakeClock())
    yield backend
    backend.close()


@pytest.fixture
def mail(root: Path) -> Path:
    return root / "mail"


def sms(store: FileBackend, root: Path) -> Path:
    """Another queue, with nothing in it."""
    store.push([Message.of("sms", "send", id="first")])
    store.delete(["first"])
    return root / "sms"


# -- ids


def test_other_work_under_the_id_of_a_finished_job_is_set_aside(
    store: FileBackend, mail: Path
) -> None:
    store.push([Message.of("mail", "send", {"day": 1}, id="daily")])
    end(store)
    drop(mail, "daily", payload={"day": 2})
    sweep(store)
    assert claim(store) == []
    assert files(mail / "pending") == []
    kept = json.loads((mail / "quarantine" / "daily.json").read_text())
    assert kept["payload"] == {"day": 2}
    [reason] = reasons(store)
    assert "'daily' is completed already" in reason
    job = store.get("daily")
    assert job is not None
    assert job.payload == {"day": 1}


def test_the_same_work_under_the_id_of_a_finished_job_goes(store: FileBackend, mail: Path) -> None:
    store.push([Message.of("mail", "send", {"day": 1, "at": 2}, id="daily")])
    end(store)
    drop(mail, "daily", payload={"at": 2, "day": 1})
    sweep(store)
    assert claim(store) == []
    assert files(mail / "pending") == files(mail / "quarantine") == []


def test_other_work_hides_no_act_on_the_finished_job(store: FileBackend, mail: Path) -> None:
    push(store, "daily")
    end(store, Verdict.FAIL)
    drop(mail, "daily", payload={"day": 2})
    (mail / "pending" / "daily").mkdir()
    (mail / "pending" / "daily.json").rename(mail / "pending" / "daily" / "task.json")
    assert store.retry(["daily"])[0].state is State.PENDING
    assert files(mail / "quarantine") == ["daily.json", "daily.reason.txt"]
    assert [job.payload for job in claim(store)] == [None]


def test_an_earlier_text_of_a_job_that_was_replaced_goes(store: FileBackend, mail: Path) -> None:
    push(store, "job")
    shutil.copytree(mail / "pending" / "job", mail.parent.parent / "kept")
    store.push([Message.of("mail", "send", {"new": 1}, id="job", replace=True)])
    end(store)
    shutil.copytree(mail.parent.parent / "kept", mail / "pending" / "job")
    (mail / "pending" / "job").chmod(0o700)
    sweep(store)
    assert files(mail / "pending") == files(mail / "quarantine") == []


def test_of_one_content_in_two_queues_one_runs_and_the_other_is_set_aside(
    store: FileBackend, root: Path, mail: Path
) -> None:
    push(store, "first")
    end(store)
    for queue in (mail, sms(store, root)):
        drop(queue, "42")
    sweep(store, "sms")
    sweep(store)
    assert (ids(claim(store)), ids(claim(store, "sms"))) == ([], ["42"])
    assert reasons(store) == ["the job '42' is in queue 'sms' already: give this another name"]
    assert files(mail / "quarantine") == ["42.json", "42.reason.txt"]


@pytest.mark.parametrize("first", ["mail", "sms"])
def test_of_two_queues_that_meet_at_an_id_only_one_gives_way(
    store: FileBackend, rival: FileBackend, disk: MetDisk, root: Path, first: str
) -> None:
    push(store, "first")
    end(store)
    sms(store, root)
    for queue in ("mail", "sms"):
        (root / queue / "pending" / "42").mkdir()
        drop(root / queue, "42")
        (root / queue / "pending" / "42.json").rename(root / queue / "pending" / "42" / "task.json")
    second = {"mail": "sms", "sms": "mail"}[first]
    disk.meet("unlink", "task.json", lambda: sweep(rival, second))
    disk.meet("rename", "/quarantine/42.json", lambda: sweep(rival, second))
    sweep(store, first)
    sweep(store, second)
    sweep(store, first)
    assert [*ids(claim(store)), *ids(claim(store, "sms"))] == ["42"]
    assert len(store.troubles()) == 1


# -- keys


def test_a_dropped_job_has_its_key(store: FileBackend, mail: Path) -> None:
    push(store, "first")
    drop(mail, "x", key="ana")
    sweep(store)
    [pushed] = store.push([Message.of("mail", "send", id="y", key="ana")])
    assert (pushed.id, pushed.status) == ("x", "existing")


def test_a_whole_task_of_another_store_has_its_key(
    store: FileBackend, mail: Path, tmp_path: Path
) -> None:
    push(store, "first")
    other = opened(tmp_path / "other", FakeClock())
    push(other, "x", key="ana")
    other.close()
    shutil.copy(tmp_path / "other/mail/pending/x/task.json", mail / "pending" / "x.json")
    sweep(store)
    assert store.push([Message.of("mail", "send", id="y", key="ana")])[0].id == "x"


def test_a_dropped_job_whose_key_is_held_is_set_aside(store: FileBackend, mail: Path) -> None:
    push(store, "x", key="ana")
    drop(mail, "y", key="ana")
    sweep(store)
    assert ids(claim(store)) == ["x"]
    assert reasons(store) == [
        "the unfinished job 'x' holds its key 'ana': wait for that one or cancel it"
    ]
    assert files(mail / "quarantine") == ["y.json", "y.reason.txt"]


def test_a_job_that_is_moved_back_waits_for_its_key_as_a_retry_does(
    store: FileBackend, mail: Path
) -> None:
    push(store, "x", key="ana")
    end(store, Verdict.FAIL)
    push(store, "y", key="ana")
    assert store.retry(["x"])[0].refused
    (mail / "failed" / "x.json").rename(mail / "pending" / "x.json")
    sweep(store)
    end(store)
    assert ids(claim(store)) == []
    (mail / "quarantine" / "x.json").rename(mail / "pending" / "x.json")
    sweep(store)
    [job] = claim(store)
    assert (job.id, job.generation) == ("x", 2)


def test_a_job_that_was_pushed_beside_another_of_its_key_stays(
    store: FileBackend, mail: Path
) -> None:
    push(store, "x", key="ana")
    claim(store)
    push(store, "y", key="ana", unique="waiting")
    (mail / "pending" / "y").chmod(0o700)  # as a killed push leaves it
    sweep(store)
    assert ids(claim(store)) == ["y"]


def test_a_key_that_a_push_holds_is_not_waited_for(
    store: FileBackend, rival: FileBackend, disk: MetDisk, mail: Path
) -> None:
    push(store, "first")
    drop(mail, "x", key="ana")
    disk.meet("rename", "key.json", lambda: sweep(rival))
    assert store.push([Message.of("mail", "send", id="y", key="ana")])[0].created
    sweep(store)
    assert ids(claim(store)) == ["first", "y"]
    assert files(mail / "quarantine") == ["x.json", "x.reason.txt"]


def test_a_key_that_cannot_be_read_sets_its_job_aside_and_stops_no_other(
    store: FileBackend, mail: Path
) -> None:
    push(store, "x", key="ana")
    (mail / ".keys" / "ana" / "key.json").write_text("{")
    drop(mail, "y", key="ana")
    drop(mail, "z")
    sweep(store)
    assert ids(claim(store)) == ["x", "z"]
    [reason] = reasons(store)
    assert "key.json cannot be read" in reason


def test_a_copy_of_a_job_that_was_tried_is_a_job_of_its_own(store: FileBackend, mail: Path) -> None:
    push(store, "x")
    end(store, Verdict.NACK)
    shutil.copytree(mail / "pending" / "x", mail / "pending" / "y")
    (mail / "pending" / "y").chmod(0o700)
    sweep(store)
    [job] = [job for job in claim(store) if job.id == "y"]
    assert (job.attempts, job.fence) == (1, 1)
