"""What each look under a job's lock is for: the case in which nothing else would notice."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from ferryman.backends.files.keys import FINISHED_KEPT
from ferryman.job import JobError, State
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.heartbeat import Beat
from ferryman.queue.settlement import Settlement
from tests.backends.met.disk import MetDisk, ids, polled, push

if TYPE_CHECKING:
    from pathlib import Path

    from ferryman.backends.files import FileBackend
    from ferryman.testing.clock import FakeClock


class Kept:
    """A job's folder and its claim's name in the index, to be put back as a crash leaves them."""

    def __init__(self, mail: Path, aside: Path) -> None:
        self._moves = [(mail / "pending" / "job", aside / "job")]
        leases = mail.parent / ".leases"
        if leases.is_dir():
            self._moves.append((leases, aside / "leases"))
        for path, copy in self._moves:
            shutil.copytree(path, copy)

    def put_back(self) -> None:
        for path, copy in self._moves:
            shutil.rmtree(path, ignore_errors=True)
            shutil.move(copy, path)
        self._moves[0][0].chmod(0o755)  # whoever ends a job takes its mark off first


@pytest.fixture
def ended(store: FileBackend, mail: Path, tmp_path: Path) -> Settlement:
    """A claim that was acked by a process which died before the job's folder was gone."""
    push(store, "job")
    [job] = polled(store)
    kept = Kept(mail, tmp_path / "aside")
    assert store.settle([Settlement.of(job, Verdict.ACK)])[0].applied
    kept.put_back()
    return Settlement.of(job, Verdict.FAIL, error=JobError(1, 0.0, "w", "ValueError", "boom"))


def state(store: FileBackend) -> State | None:
    job = store.get("job")
    return None if job is None else job.state


def test_a_claim_whose_end_stands_in_a_record_cannot_end_otherwise(
    rival: FileBackend,
    ended: Settlement,
    mail: Path,
) -> None:
    assert not rival.settle([ended])[0].applied
    assert state(rival) is State.COMPLETED
    assert list((mail / "failed").iterdir()) == []


def test_a_claim_whose_end_stands_in_a_record_is_not_held(
    rival: FileBackend,
    ended: Settlement,
) -> None:
    [pulse] = rival.heartbeat("w", [Beat("job", ended.fence)], lease=60)
    assert not pulse.held


def test_a_claim_whose_end_stands_in_a_record_does_not_expire(
    rival: FileBackend,
    ended: Settlement,
    clock: FakeClock,
    mail: Path,
) -> None:
    clock.advance(61)
    assert rival.reap() == []
    assert state(rival) is State.COMPLETED
    assert not (mail / "pending" / "job").exists()


def test_a_hint_to_a_job_whose_end_stands_in_a_record_is_not_followed(
    store: FileBackend,
    rival: FileBackend,
    mail: Path,
    tmp_path: Path,
) -> None:
    push(store, "job")
    kept = Kept(mail, tmp_path / "aside")
    store.cancel(["job"])
    kept.put_back()
    assert polled(rival) == []
    assert state(rival) is State.CANCELLED


def test_a_lease_whose_end_stands_in_the_history_keeps_nobody_out(
    store: FileBackend,
    rival: FileBackend,
    mail: Path,
) -> None:
    push(store, "job")
    [job] = polled(store)
    lease = mail / "pending" / "job" / "lease.json"
    content = lease.read_bytes()
    store.settle([Settlement.of(job, Verdict.NACK, delay=0.0)])
    lease.write_bytes(content)
    [again] = polled(rival)
    assert (again.fence, again.attempts) == (2, 2)


def test_a_heartbeat_that_is_quicker_than_the_reaper_keeps_its_claim(
    store: FileBackend,
    rival: FileBackend,
    disk: MetDisk,
    clock: FakeClock,
) -> None:
    push(rival, "job")
    [job] = polled(rival)
    clock.advance(61)
    disk.meet(
        "lock", "/pending/job", lambda: rival.heartbeat("w", [Beat("job", job.fence)], lease=60)
    )
    assert store.reap() == []
    assert state(store) is State.PROCESSING


def test_an_edited_task_is_claimed_only_by_those_who_want_it(
    store: FileBackend,
    mail: Path,
) -> None:
    push(store, "job")
    task = mail / "pending" / "job" / "task.json"
    task.write_text(task.read_text().replace('"send"', '"print"'))
    assert store.poll("w", {"mail": 1}, lease=60, skip_tasks=["print"]) == []
    assert ids(polled(store)) == ["job"]


def test_an_ask_that_an_earlier_claim_left_is_void(
    store: FileBackend,
    rival: FileBackend,
    mail: Path,
) -> None:
    push(store, "job")
    [job] = polled(store)
    store.settle([Settlement.of(job, Verdict.NACK, delay=0.0)])
    [job] = polled(store)
    ask = mail / "pending" / "job" / "ask.json"
    ask.write_text('{"asked": "cancel", "fence": 1}')
    [pulse] = rival.heartbeat("w", [Beat("job", job.fence)], lease=60)
    assert (pulse.held, pulse.asked) == (True, None)


def test_a_cancel_that_was_asked_is_never_softened_to_a_pause(
    store: FileBackend,
    rival: FileBackend,
) -> None:
    push(store, "job")
    [job] = polled(store)
    rival.cancel(["job"])
    rival.pause(["job"])
    [pulse] = store.heartbeat("w", [Beat("job", job.fence)], lease=60)
    assert pulse.asked == "cancel"


def test_a_retried_job_holds_its_key_however_many_had_it_since(
    store: FileBackend,
) -> None:
    push(store, "job", key="once")
    store.settle([Settlement.of(job, Verdict.ACK) for job in polled(store)])
    for number in range(FINISHED_KEPT + 1):
        push(store, f"j{number}", key="once")
        store.settle([Settlement.of(job, Verdict.ACK) for job in polled(store)])
    assert store.retry(["job"])[0].refused is None
    [answer] = store.push([Message.of("mail", "send", id="another", key="once")])
    assert (answer.id, answer.status) == ("job", "existing")


def test_a_record_that_a_retry_left_behind_ends_no_later_generation(
    store: FileBackend,
    rival: FileBackend,
    mail: Path,
) -> None:
    push(store, "job")
    [job] = polled(store)
    store.settle([Settlement.of(job, Verdict.FAIL)])
    record = mail / "failed" / "job.json"
    content = record.read_bytes()
    store.retry(["job"])
    record.write_bytes(content)
    (mail / "pending" / "job").chmod(0o755)  # it has no mark until the record is gone
    [again] = polled(rival)
    assert again.generation == 2
    assert not record.exists()
