"""Folders that people copy or move bring their marks along, and are found all the same."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from typing import TYPE_CHECKING

import pytest

from ferryman.job import State
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

LONG_AGO = 1_700_000_000.0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "queues"


@pytest.fixture
def store(root: Path) -> Iterator[Backend]:
    backend = opened(root)
    backend.push([Message.of("mail", "send", id="first"), Message.of("post", "send", id="other")])
    yield backend
    backend.close()


@pytest.fixture
def first(root: Path, store: Backend) -> Path:
    """A job that has been at rest for long."""
    folder = root / "mail" / "pending" / "first"
    for path in (folder / "task.json", folder):
        age(path)
    return folder


def opened(root: Path) -> Backend:
    return open_backend(f"file://{root}?durability=relaxed")


def age(path: Path) -> None:
    os.utime(path, (LONG_AGO, LONG_AGO))


def polled(store: Backend, queue: str = "mail", lease: float = 60) -> list[Job]:
    return list(store.poll("w1", {queue: 10}, lease=lease))


def claimed(store: Backend, root: Path, queue: str, number: int) -> list[str]:
    """The ids of all that is found after a minute without a look; a sweep rests for a while."""
    found: list[str] = []
    for mark in ("boot", "looked"):
        path = root / queue / ".ready" / mark
        if path.exists():
            age(path)

    def enough() -> bool:
        found.extend(job.id for job in polled(store, queue))
        return len(found) >= number

    wait_until(enough, what=f"{number} jobs of {queue}")
    return sorted(found)


def is_marked(folder: Path) -> bool:
    return bool(folder.stat().st_mode & stat.S_ISVTX)


@pytest.mark.parametrize("option", ["-r", "-a"])
def test_a_copy_is_a_job_of_its_own(store: Backend, root: Path, first: Path, option: str) -> None:
    copy = first.with_name("second")
    subprocess.run(["/bin/cp", option, first, copy], check=True)
    copy.chmod(copy.stat().st_mode | stat.S_ISVTX)  # which some kinds of cp leave out
    assert claimed(store, root, "mail", 2) == ["first", "second"]


def test_a_copy_that_is_made_at_once_is_a_job_of_its_own(store: Backend, root: Path) -> None:
    pending = root / "mail" / "pending"
    subprocess.run(["/bin/cp", "-r", pending / "first", pending / "second"], check=True)
    assert claimed(store, root, "mail", 2) == ["first", "second"]


def test_a_job_that_is_moved_to_another_queue_runs_there(
    store: Backend, first: Path, root: Path
) -> None:
    first.rename(root / "post" / "pending" / "first")
    assert claimed(store, root, "post", 2) == ["first", "other"]
    assert polled(store) == []


def test_a_job_that_gets_another_name_runs_under_it(
    store: Backend, root: Path, first: Path
) -> None:
    first.rename(first.with_name("renamed"))
    assert claimed(store, root, "mail", 1) == ["renamed"]


def test_a_job_that_was_away_for_a_while_runs_when_it_is_back(
    store: Backend, first: Path, root: Path
) -> None:
    first.rename(root / "kept")
    assert polled(store) == []
    (root / "kept").rename(first)
    assert claimed(store, root, "mail", 1) == ["first"]


def test_jobs_of_a_backup_run(store: Backend, first: Path, root: Path) -> None:
    shutil.copytree(first, root.with_name("backup") / "first")
    store.settle([Settlement.of(job, Verdict.ACK) for job in polled(store)])
    (root / "mail" / "completed" / "first.json").unlink()
    shutil.copytree(root.with_name("backup"), root / "mail" / "pending", dirs_exist_ok=True)
    assert is_marked(first)
    assert claimed(store, root, "mail", 1) == ["first"]


def test_a_dead_workers_lease_ends_also_in_a_queue_that_got_another_name(
    store: Backend, root: Path
) -> None:
    polled(store, lease=0.001)
    (root / "mail").rename(root / "letters")
    other = opened(root)
    [reaped] = wait_until(other.reap)
    assert (reaped.id, reaped.queue) == ("first", "letters")
    other.close()


def test_a_dead_workers_lease_ends_also_in_a_copy_of_its_queue(
    store: Backend, root: Path, tmp_path: Path
) -> None:
    polled(store, lease=0.001)
    copy = opened(tmp_path / "copy")
    copy.push([Message.of("elsewhere", "send")])
    subprocess.run(["/bin/cp", "-a", root / "mail", tmp_path / "copy" / "mail"], check=True)
    [reaped] = wait_until(copy.reap)
    assert (reaped.id, reaped.queue) == ("first", "mail")
    copy.close()


def test_a_dead_workers_lease_ends_also_when_the_index_of_leases_was_removed(
    store: Backend, root: Path
) -> None:
    polled(store, lease=0.001)
    shutil.rmtree(root / ".leases")
    [reaped] = wait_until(store.reap)
    assert reaped.id == "first"


def test_jobs_can_be_claimed_when_the_index_of_leases_was_removed(
    store: Backend, root: Path
) -> None:
    shutil.rmtree(root / ".leases")
    [job] = polled(store)
    assert store.settle([Settlement.of(job, Verdict.ACK)])[0].state is State.COMPLETED
