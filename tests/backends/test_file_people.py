"""People and scripts use the queue's files by hand, and it works."""

from __future__ import annotations

import json
import os
import shutil
import time
from typing import TYPE_CHECKING, Any

import pytest

from ferryman.job import JobError, State
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.open import open_backend
from ferryman.queue.settlement import Settlement
from ferryman.testing.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ferryman.job import Job
    from ferryman.queue.contract import Backend


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "queues"


@pytest.fixture
def store(root: Path) -> Iterator[Backend]:
    backend = open_backend(f"file://{root}?durability=relaxed")
    backend.push([Message.of("mail", "send", id="first")])
    yield backend
    backend.close()


@pytest.fixture
def mail(root: Path, store: Backend) -> Path:
    return root / "mail"


def polled(store: Backend) -> list[Job]:
    return list(store.poll("w1", {"mail": 10}, lease=60))


def found(store: Backend) -> list[Job]:
    """What polls find; a sweep rests for twenty times as long as it took."""
    return wait_until(lambda: polled(store), what="a sweep")


def claim_all(store: Backend) -> None:
    store.settle([Settlement.of(job, Verdict.ACK) for job in polled(store)])


def dropped(folder: Path, **facts: Any) -> None:
    folder.mkdir()
    (folder / "task.json").write_text(json.dumps(facts))


def failed(store: Backend, job_id: str) -> None:
    claim_all(store)
    store.push([Message.of("mail", "send", {"to": "ana"}, id=job_id)])
    [job] = polled(store)
    error = JobError(1, 0.0, "w1", "ValueError", "boom")
    store.settle([Settlement.of(job, Verdict.FAIL, error=error)])


def test_the_layout_is_the_one_of_the_seeds(store: Backend, mail: Path) -> None:
    task = json.loads((mail / "pending" / "first" / "task.json").read_text())
    assert (task["id"], task["queue"], task["task"], task["payload"]) == (
        "first",
        "mail",
        "send",
        None,
    )
    assert not (mail / "pending" / "first" / "lease.json").exists()
    [job] = polled(store)
    lease = json.loads((mail / "pending" / "first" / "lease.json").read_text())
    assert (lease["worker_id"], lease["fence"]) == ("w1", 1)
    assert {"created_at", "heartbeat_at", "expires_at", "nonce"} <= lease.keys()
    store.settle([Settlement.of(job, Verdict.ACK, result='"sent"')])
    assert not (mail / "pending" / "first").exists()
    record = json.loads((mail / "completed" / "first.json").read_text())
    assert (record["state"], record["result"], record["worker"]) == ("completed", "sent", "w1")


def test_texts_have_one_field_a_line(store: Backend, mail: Path) -> None:
    text = (mail / "pending" / "first" / "task.json").read_text()
    assert '\n  "priority": 0,\n' in text
    assert text.endswith("}\n")


def test_an_edited_payload_is_what_the_worker_gets(store: Backend, mail: Path) -> None:
    path = mail / "pending" / "first" / "task.json"
    path.write_text(path.read_text().replace('"payload": null', '"payload": {"to": "bo"}'))
    assert [job.payload for job in polled(store)] == [{"to": "bo"}]


def test_an_edited_priority_moves_the_job_in_the_line(store: Backend, mail: Path) -> None:
    path = mail / "pending" / "first" / "task.json"
    path.write_text(path.read_text().replace('"priority": 0', '"priority": 7'))
    assert [job.priority for job in polled(store) + polled(store)] == [7]


def test_an_edited_time_holds(store: Backend, mail: Path) -> None:
    path = mail / "pending" / "first" / "task.json"
    facts = json.loads(path.read_text()) | {"ready_at": "2999-01-01T00:00:00Z"}
    path.write_text(json.dumps(facts))
    assert polled(store) == []


def test_a_folder_with_a_task_that_a_script_drops_is_taken_in(store: Backend, mail: Path) -> None:
    claim_all(store)
    dropped(mail / "pending" / "by-hand", task="send", payload={"n": 1})
    [job] = found(store)
    assert (job.id, job.queue, job.payload, job.max_attempts) == ("by-hand", "mail", {"n": 1}, 5)
    assert abs(job.created_at - time.time()) < 60


def test_a_plain_file_that_a_script_drops_is_taken_in(store: Backend, mail: Path) -> None:
    claim_all(store)
    (mail / "pending" / "report-7.json").write_text('{"task": "send", "priority": 3}')
    [job] = found(store)
    assert (job.id, job.task, job.priority) == ("report-7", "send", 3)
    assert store.settle([Settlement.of(job, Verdict.ACK)])[0].applied
    assert list((mail / "pending").iterdir()) == []


def test_a_dropped_job_wakes_a_waiting_worker(store: Backend, mail: Path) -> None:
    claim_all(store)
    assert not store.wait(["mail"], 0.01)
    dropped(mail / "pending" / "by-hand", task="send")
    assert store.wait(["mail"], 10)


def test_a_dropped_job_is_seen_by_get_list_and_cancel(store: Backend, mail: Path) -> None:
    dropped(mail / "pending" / "by-hand", task="send")
    job = store.get("by-hand")
    assert job is not None
    assert job.state is State.PENDING
    assert store.cancel(["by-hand"])[0].state is State.CANCELLED
    assert (mail / "cancelled" / "by-hand.json").exists()


@pytest.mark.parametrize("way", ["folder", "file"])
def test_a_failed_job_moved_back_runs_again(store: Backend, mail: Path, way: str) -> None:
    failed(store, "x")
    if way == "folder":
        (mail / "pending" / "x").mkdir()
        (mail / "failed" / "x.json").rename(mail / "pending" / "x" / "task.json")
    else:
        (mail / "failed" / "x.json").rename(mail / "pending" / "x.json")
    [job] = found(store)
    assert (job.id, job.generation, job.attempts, job.fence) == ("x", 2, 1, 2)
    assert job.payload == {"to": "ana"}
    whole = store.get("x")
    assert whole is not None
    assert [error.text for error in whole.errors] == ["boom"]


@pytest.mark.parametrize("was", [None, "2020-01-01T00:00:00Z", "2999-01-01T00:00:00Z"])
def test_an_edited_time_holds_also_for_a_job_with_a_history(
    store: Backend, mail: Path, was: str | None
) -> None:
    claim_all(store)
    due = {} if was is None else {"ready_at": was}
    store.pause_queue("mail")
    dropped(mail / "pending" / "x", task="send", **due)
    wait_until(lambda: store.reap() or (mail / "pending" / "x" / "history.json").exists())
    path = mail / "pending" / "x" / "task.json"
    for moment, runs in (("2998-01-01T00:00:00Z", False), ("2021-01-01T00:00:00Z", True)):
        path.write_text(json.dumps({"task": "send", "ready_at": moment}))
        os.utime(path, (time.time() + 5, time.time() + 5))
        (mail / ".ready" / "looked").touch()
        os.utime(mail / ".ready" / "looked", (0, 0))
        store.resume_queue("mail")
        if runs:
            assert [job.id for job in found(store)] == ["x"]
        else:
            assert polled(store) + polled(store) == []
        store.pause_queue("mail")


def test_a_finished_task_that_is_copied_back_stays_finished(store: Backend, mail: Path) -> None:
    shutil.copytree(mail / "pending" / "first", mail / "kept")
    claim_all(store)
    shutil.copytree(mail / "kept", mail / "pending" / "first")
    (mail / "pending" / "first").chmod(0o700)
    shutil.rmtree(mail / "kept")
    wait_until(lambda: polled(store) or not (mail / "pending" / "first").exists(), what="a sweep")
    job = store.get("first")
    assert job is not None
    assert job.state is State.COMPLETED


def test_a_waiting_job_that_is_removed_by_hand_is_gone(store: Backend, mail: Path) -> None:
    shutil.rmtree(mail / "pending" / "first")
    assert polled(store) == []
    assert store.get("first") is None


def test_a_record_that_is_removed_by_hand_is_forgotten(store: Backend, mail: Path) -> None:
    claim_all(store)
    (mail / "completed" / "first.json").unlink()
    assert store.get("first") is None
    assert store.push([Message.of("mail", "send", id="first")])[0].created


def test_unknown_fields_are_left_alone(store: Backend, mail: Path) -> None:
    claim_all(store)
    dropped(mail / "pending" / "x", task="send", colour="blue")
    assert [job.id for job in found(store)] == ["x"]


def test_a_half_written_task_is_waited_for(store: Backend, mail: Path) -> None:
    claim_all(store)
    (mail / "pending" / "x").mkdir()
    task = mail / "pending" / "x" / "task.json"
    task.write_text('{"task": "se')
    assert polled(store) == []
    task.write_text('{"task": "send"}')
    [job] = found(store)
    assert job.id == "x"


def test_hints_that_were_removed_are_made_again(root: Path, store: Backend, mail: Path) -> None:
    shutil.rmtree(mail / ".ready")
    other = open_backend(f"file://{root}?durability=relaxed")
    assert [job.id for job in polled(other)] == ["first"]
    other.close()
    assert store.push([Message.of("mail", "send", id="later")])[0].created
    assert [job.id for job in polled(store)] == ["later"]
