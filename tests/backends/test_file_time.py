"""Wrong clocks, boots and dead processes: leases and times hold by what cannot be set."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import time
from typing import TYPE_CHECKING

import pytest

from ferryman.backends.files import FileBackend
from ferryman.backends.files.disk import LocalDisk
from ferryman.backends.files.location import Location
from ferryman.backends.files.store import BOOT
from ferryman.clock import SystemClock
from ferryman.job import State
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.settlement import Settlement

if TYPE_CHECKING:
    from pathlib import Path


class OtherBoot(LocalDisk):
    """The same disk after the machine was started again."""

    def read(self, path: str, at: int | None = None) -> bytes | None:
        return b"another-boot\n" if path == BOOT else super().read(path, at)


def opened(root: Path, disk: LocalDisk | None = None, *, shared: bool = False) -> FileBackend:
    location = Location(str(root), durable=False, shared=shared)
    return FileBackend(location, disk or LocalDisk(durable=False), SystemClock())


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_process_with_a_wrong_clock_starts_nothing_early_and_steals_nothing(
    tmp_path: Path, hours: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = opened(tmp_path)
    right.push([Message.of("mail", "send", id="held"), Message.of("mail", "send", id="due")])
    [held] = right.poll("w1", {"mail": 1}, lease=60)
    right.push([Message.of("mail", "send", id="later", delay=600)])
    true_time, true_clock, off = time.time, time.clock_gettime, hours * 3_600
    monkeypatch.setattr(time, "time", lambda: true_time() + off)
    monkeypatch.setattr(
        time,
        "clock_gettime",
        lambda kind: true_clock(kind) + off * (kind == time.CLOCK_REALTIME),
    )
    wrong = opened(tmp_path)
    assert list(wrong.reap()) == []
    assert [job.id for job in wrong.poll("w2", {"mail": 9}, lease=60)] == ["due"]
    wrong.push([Message.of("mail", "send", id="new")])
    monkeypatch.undo()
    [new] = right.poll("w1", {"mail": 9}, lease=60)
    assert new.id == "new"
    assert abs(new.created_at - time.time()) < 30
    assert right.settle([Settlement.of(held, Verdict.ACK)])[0].applied
    right.close()
    wrong.close()


def test_leases_of_another_boot_are_over_at_once(tmp_path: Path) -> None:
    before = opened(tmp_path)
    before.push([Message.of("mail", "send", id="a")])
    [job] = before.poll("w1", {"mail": 1}, lease=3_600)
    after = opened(tmp_path, OtherBoot(durable=False))
    [reaped] = after.reap()
    assert (reaped.id, reaped.worker, reaped.state) == ("a", "w1", State.PENDING)
    assert not after.settle([Settlement.of(job, Verdict.ACK)])[0].applied


def test_between_machines_only_the_file_servers_time_counts(tmp_path: Path) -> None:
    before = opened(tmp_path, shared=True)
    before.push([Message.of("mail", "send", id="a")])
    before.poll("w1", {"mail": 1}, lease=3_600)
    elsewhere = opened(tmp_path, OtherBoot(durable=False), shared=True)
    assert list(elsewhere.reap()) == []


def test_after_a_boot_the_hints_are_written_anew(tmp_path: Path) -> None:
    before = opened(tmp_path)
    before.push([Message.of("mail", "send", id=f"j{number}") for number in range(5)])
    before.pause(["j4"])
    before.poll("w1", {"mail": 1}, lease=60)
    # What is never synced may be gone after a loss of power.
    for folder in ("mail/.ready", "mail/.paused", ".leases/w1/mail"):
        for path in (tmp_path / folder).iterdir():
            path.unlink()
    after = opened(tmp_path, OtherBoot(durable=False))
    assert sorted(job.id for job in after.poll("w2", {"mail": 9}, lease=60)) == ["j1", "j2", "j3"]
    counts = after.snapshot()
    assert (counts.count(State.PROCESSING), counts.count(State.PAUSED)) == (4, 1)
    assert [reaped.id for reaped in after.reap()] == ["j0"]


def test_a_lease_that_a_loss_of_power_tore_is_no_lease(tmp_path: Path) -> None:
    before = opened(tmp_path)
    before.push([Message.of("mail", "send", id="a")])
    before.poll("w1", {"mail": 1}, lease=60)
    (tmp_path / "mail" / "pending" / "a" / "lease.json").write_bytes(b"")
    after = opened(tmp_path, OtherBoot(durable=False))
    [job] = after.poll("w2", {"mail": 1}, lease=60)
    assert (job.id, job.worker) == ("a", "w2")


def test_times_survive_their_text_to_the_microsecond(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.push([Message.of("mail", "send", id="a", ready_at=1_700_000_000.123456)])
    job = store.get("a")
    assert job is not None
    assert job.ready_at == 1_700_000_000.123456
    facts = json.loads((tmp_path / "mail" / "pending" / "a" / "task.json").read_text())
    assert facts["ready_at"] == "2023-11-14T22:13:20.123456Z"


def test_a_moment_between_two_microseconds_is_never_early(tmp_path: Path) -> None:
    store = opened(tmp_path)
    moment = 1_700_000_000.1234567
    store.push([Message.of("mail", "send", id="a", ready_at=moment)])
    job = store.get("a")
    assert job is not None
    assert 0 <= job.ready_at - moment < 2e-6


def test_a_forked_child_works_with_the_store_it_inherits(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.push([Message.of("mail", "send", id="parent")])
    child = os.fork()
    if child == 0:
        try:
            store.push([Message.of("mail", "send", id=f"child-{n}") for n in range(50)])
            os._exit(0 if store.wait(["mail"], 5) else 1)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(2)
    store.push([Message.of("mail", "send", id=f"parent-{n}") for n in range(50)])
    assert os.waitpid(child, 0)[1] == 0
    assert len(store.poll("w1", {"mail": 200}, lease=60)) == 101
    assert multiprocessing.active_children() == []
    store.close()
