"""Folders that people, git or an archive have dropped are made again, and no job is stuck."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from ferryman.backends.files import FileBackend
from ferryman.errors import BackendUnavailable, OutcomeUnknown
from ferryman.filter import Filter
from ferryman.job import State
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.open import open_backend
from ferryman.queue.settlement import Settlement
from ferryman.testing.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ferryman.job import Job
    from ferryman.queue.settlement import Receipt

LONG_AGO = 1_700_000_000.0
FOLDERS = (
    "pending",
    "completed",
    "failed",
    "cancelled",
    "quarantine",
    ".ready",
    ".expiring",
    ".keys",
    ".paused",
)
ROOT_FOLDERS = (".tmp", ".leases", ".cells")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "queues"


@pytest.fixture
def store(root: Path) -> Iterator[FileBackend]:
    backend = opened(root)
    for queue in ("mail", "other"):
        backend.push([Message.of(queue, "send", id=f"{queue}-{number}") for number in range(3)])
    yield backend
    backend.close()


@pytest.fixture
def mail(root: Path, store: FileBackend) -> Path:
    return root / "mail"


def opened(root: Path) -> FileBackend:
    backend = open_backend(f"file://{root}")
    assert isinstance(backend, FileBackend)
    return backend


def polled(store: FileBackend, **limits: int) -> list[Job]:
    return list(store.poll("w1", limits or {"mail": 10, "other": 10}, lease=60))


def ended(store: FileBackend, jobs: list[Job], verdict: Verdict = Verdict.ACK) -> Sequence[Receipt]:
    return store.settle([Settlement.of(job, verdict) for job in jobs])


def state_of(store: FileBackend, job_id: str) -> State | None:
    job = store.get(job_id)
    return None if job is None else job.state


def torn(pending: Path) -> None:
    (pending / "torn").mkdir()
    tear(pending / "torn" / "task.json")


def tear(task: Path) -> None:
    task.write_text('{"task": ')
    os.utime(task, (LONG_AGO, LONG_AGO))


@pytest.mark.parametrize("verdict", [Verdict.ACK, Verdict.FAIL])
def test_jobs_end_although_the_folder_for_their_records_is_gone(
    store: FileBackend, mail: Path, verdict: Verdict
) -> None:
    jobs = polled(store)
    for folder in ("completed", "failed", "cancelled"):
        shutil.rmtree(mail / folder)
    assert [receipt.applied for receipt in ended(store, jobs, verdict)] == [True] * 6
    assert {job.state.terminal for job in store.list(Filter()).jobs} == {True}


def test_a_process_that_begins_makes_what_a_queue_lacks(
    root: Path, store: FileBackend, mail: Path
) -> None:
    for folder in FOLDERS:
        if folder != "pending":
            shutil.rmtree(mail / folder)
    store.close()
    later = opened(root)
    assert len(polled(later)) == 6
    assert {folder for folder in FOLDERS if (mail / folder).is_dir()} == {*FOLDERS}
    later.close()


@pytest.mark.parametrize("gone", FOLDERS)
def test_every_verb_goes_on_whichever_folder_of_a_queue_is_gone(
    store: FileBackend, mail: Path, gone: str
) -> None:
    polled(store, mail=1)
    shutil.rmtree(mail / gone)
    everything_works(store)


@pytest.mark.parametrize("gone", ROOT_FOLDERS)
def test_every_verb_goes_on_whichever_folder_of_the_root_is_gone(
    root: Path, store: FileBackend, gone: str
) -> None:
    polled(store, mail=1)
    shutil.rmtree(root / gone)
    everything_works(store)


def everything_works(store: FileBackend) -> None:
    """Every verb that writes does so in a queue of which it knew nothing bad."""
    names = ("new", "keyed", "fails", "goes", "late")
    keys = {"keyed": "k"}
    store.push([Message.of("mail", "send", id=name, key=keys.get(name)) for name in names])
    store.push([Message.of("mail", "send", id="dead", expires=0.001, delay=1)])
    assert store.pause(["late"])[0].refused is None
    assert store.cancel(["goes"])[0].refused is None
    # A poll that finds the hints gone leaves it to the next one to write them anew.
    jobs = {job.id: job for job in [*polled(store), *polled(store)]}
    assert {"new", "keyed", "fails"} <= jobs.keys()
    assert ended(store, [jobs["fails"]], Verdict.FAIL)[0].applied
    assert ended(store, [jobs["new"]])[0].applied
    assert ended(store, [jobs["keyed"]], Verdict.NACK)[0].applied
    assert store.retry(["fails"])[0].refused is None
    assert store.resume(["late"])[0].refused is None
    assert store.delete(["goes", "nobody"])[0].refused is None
    store.pause_queue("mail")
    store.resume_queue("mail")
    assert [reaped.id for reaped in wait_until(store.reap)] == ["dead"]
    assert store.write_cell("a", "1", expect=None) is not None
    assert store.prune(older_than=86_400) == 0
    assert {state_of(store, name) for name in ("keyed", "fails", "late")} == {State.PENDING}
    store.purge("mail")


def test_a_new_queue_is_made_although_nothing_can_be_prepared_yet(
    root: Path, store: FileBackend
) -> None:
    shutil.rmtree(root / ".tmp")
    assert store.push([Message.of("ü" * 100, "send")])[0].created
    assert "ü" * 100 in store.snapshot().queues


def test_a_queue_that_was_removed_whole_takes_pushes_again(store: FileBackend, mail: Path) -> None:
    shutil.rmtree(mail)
    assert store.push([Message.of("mail", "send", id="again")])[0].created
    assert store.push([Message.of("mail", "send", id="more", key="k")])[0].created
    assert {job.id for job in polled(store, mail=10)} == {"again", "more"}


def test_a_torn_file_without_a_quarantine_stops_nobody(store: FileBackend, mail: Path) -> None:
    torn(mail / "pending")
    shutil.rmtree(mail / "quarantine")
    store.reap()
    assert store.wait(["mail"], 0)
    assert len(polled(store)) == 6
    wait_until(lambda: store.poll("w1", {"mail": 1}, lease=60) or store.troubles(), what="a sweep")
    assert (mail / "quarantine" / "torn.json").exists()


def test_a_torn_file_that_cannot_be_set_aside_stops_nobody(
    root: Path, store: FileBackend, mail: Path
) -> None:
    torn(mail / "pending")
    tear(mail / "pending" / "mail-0" / "task.json")
    blocked(mail / "quarantine")
    later = opened(root)
    for each in (store, later):
        each.reap()
        assert each.wait(["mail"], 0)
    assert len(polled(later)) == 5
    assert (mail / "pending" / "torn" / "task.json").exists()
    later.close()


def test_deadlines_count_although_their_hints_were_removed(store: FileBackend, mail: Path) -> None:
    store.push([Message.of("mail", "send", id="dead", expires=0.001, delay=1)])
    shutil.rmtree(mail / ".expiring")
    store.push([Message.of("mail", "send", id="late", expires=0.001, delay=1)])
    wait_until(lambda: store.reap() or state_of(store, "late") is State.CANCELLED)
    assert state_of(store, "dead") is State.CANCELLED


def test_a_paused_job_is_counted_although_its_mark_was_removed(
    store: FileBackend, mail: Path
) -> None:
    store.pause(["mail-0"])
    shutil.rmtree(mail / ".paused")
    assert len([*polled(store, mail=10), *polled(store, mail=10)]) == 2
    assert store.snapshot().queues["mail"].states[State.PAUSED] == 1


def test_one_queue_whose_folder_cannot_be_made_keeps_no_other_job_from_ending(
    store: FileBackend, mail: Path
) -> None:
    jobs = polled(store)
    blocked(mail / "completed")
    with pytest.raises(OutcomeUnknown, match="mail/completed"):
        ended(store, jobs)
    states = {job.id: state_of(store, job.id) for job in jobs}
    assert {state for job, state in states.items() if "other" in job} == {State.COMPLETED}
    assert {state for job, state in states.items() if "mail" in job} == {State.PROCESSING}
    (mail / "completed").unlink()
    assert [receipt.applied for receipt in ended(store, jobs)] == [True] * 6


def test_the_error_names_the_folder_that_is_missing(store: FileBackend, mail: Path) -> None:
    [job] = polled(store, mail=1)
    blocked(mail / "completed")
    with pytest.raises(OutcomeUnknown, match=r"the folder is missing.*\(/.*/mail/completed\)"):
        ended(store, [job])


def test_more_jobs_than_one_batch_holds_end_beside_a_queue_that_is_stuck(
    store: FileBackend, mail: Path
) -> None:
    ids = [f"many-{number}" for number in range(300)]
    store.push([Message.of("other", "send", id=job_id) for job_id in ids])
    jobs = [*polled(store, mail=1), *polled(store, other=400)]
    blocked(mail / "completed")
    with pytest.raises(OutcomeUnknown):
        ended(store, jobs)
    assert store.snapshot().queues["other"].states == {State.COMPLETED: 303}


def blocked(folder: Path) -> None:
    """As if the disk that the folder was moved to were not mounted."""
    shutil.rmtree(folder)
    folder.symlink_to("/nowhere/at/all")


def test_an_outage_makes_no_folders(root: Path, store: FileBackend) -> None:
    shutil.rmtree(root)
    root.mkdir()  # what is left of a mount
    with pytest.raises((BackendUnavailable, OutcomeUnknown), match="is gone"):
        store.push([Message.of("mail", "send")])
    with pytest.raises((BackendUnavailable, OutcomeUnknown), match="is gone"):
        store.push([Message.of("new", "send")])
    assert list(root.iterdir()) == []
