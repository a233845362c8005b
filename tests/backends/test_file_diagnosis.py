"""What the file store can say about itself."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from ferryman.backends.files import FileBackend
from ferryman.backends.files.disk import LocalDisk, Room
from ferryman.backends.files.location import MOUNTS, Location
from ferryman.clock import SystemClock
from ferryman.message import Message
from ferryman.queue.diagnosis import Finding, Severity

if TYPE_CHECKING:
    from pathlib import Path


class Examined(LocalDisk):
    """The real disk, said to be of another kind and with other room."""

    def __init__(self, kind: str = "ext4", room: Room | None = None) -> None:
        super().__init__(durable=False)
        self._kind = kind
        self._room = room or Room(1 << 40, 1 << 20)

    def read(self, path: str, at: int | None = None) -> bytes | None:
        if path == MOUNTS:
            return f"disk / {self._kind} rw 0 0\n".encode()
        return super().read(path, at)

    def room(self, path: str) -> Room:
        return self._room


def examine(
    root: Path, disk: Examined | None = None, *, deep: bool = False, **options: bool
) -> dict[str, Finding]:
    store = FileBackend(Location(str(root), **options), disk or Examined(), SystemClock())
    findings = {finding.check: finding for finding in store.diagnose(deep=deep)}
    store.close()
    return findings


def test_a_healthy_store_has_nothing_to_complain_about(tmp_path: Path) -> None:
    findings = examine(tmp_path, deep=True)
    assert {finding.severity for finding in findings.values()} == {Severity.OK}
    assert findings.keys() == {
        "format",
        "file system",
        "durability",
        "disk space",
        "inodes",
        "folders",
        "quarantine",
        "sweep",
    }


@pytest.mark.parametrize(
    ("kind", "says"), [("tmpfs", "memory"), ("nfs4", "proven"), ("zonefs", "nothing is known")]
)
def test_a_doubtful_file_system_is_named(tmp_path: Path, kind: str, says: str) -> None:
    finding = examine(tmp_path, Examined(kind), shared=True)["file system"]
    assert finding.severity is Severity.WARNING
    assert says in finding.what
    assert kind in finding.what


def test_relaxed_durability_is_named(tmp_path: Path) -> None:
    assert examine(tmp_path, durable=False)["durability"].severity is Severity.WARNING


@pytest.mark.parametrize(
    ("room", "check", "severity"),
    [
        (Room(10 << 20, 1 << 20), "disk space", Severity.PROBLEM),
        (Room(500 << 20, 1 << 20), "disk space", Severity.WARNING),
        (Room(1 << 40, 5), "inodes", Severity.WARNING),
        (Room(1 << 40, -1), "inodes", Severity.OK),
    ],
)
def test_little_room_is_named(tmp_path: Path, room: Room, check: str, severity: Severity) -> None:
    assert examine(tmp_path, Examined(room=room))[check].severity is severity


def test_quarantined_files_are_named(tmp_path: Path) -> None:
    store = FileBackend(Location(str(tmp_path)), Examined(), SystemClock())
    store.push([Message.of("mail", "send", id="bad")])
    task = tmp_path / "mail" / "pending" / "bad" / "task.json"
    task.write_text("{")
    os.utime(task, (time.time() - 60,) * 2)
    assert list(store.poll("w1", {"mail": 1}, lease=60)) == []
    store.close()
    finding = examine(tmp_path)["quarantine"]
    assert finding.severity is Severity.WARNING
    assert "bad.json" in finding.what


@pytest.mark.parametrize("link", [True, False])
def test_what_is_in_the_way_of_a_folder_is_named(tmp_path: Path, link: bool) -> None:
    store = FileBackend(Location(str(tmp_path)), Examined(), SystemClock())
    store.push([Message.of("mail", "send")])
    store.close()
    completed = tmp_path / "mail" / "completed"
    completed.rmdir()
    assert examine(tmp_path)["folders"].severity is Severity.OK
    completed.symlink_to("/nowhere/at/all") if link else completed.write_text("")
    finding = examine(tmp_path)["folders"]
    assert finding.severity is Severity.PROBLEM
    assert str(completed) in finding.what


def test_jobs_that_nobody_took_in_yet_are_counted(tmp_path: Path) -> None:
    store = FileBackend(Location(str(tmp_path)), Examined(), SystemClock())
    store.push([Message.of("mail", "send", id="good")])
    store.close()
    (tmp_path / "mail" / "pending" / "by-hand.json").write_text('{"task": "send"}')
    finding = examine(tmp_path, deep=True)["sweep"]
    assert (finding.severity, finding.what[:1]) == (Severity.WARNING, "1")
