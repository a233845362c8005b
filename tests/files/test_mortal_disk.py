"""A disk that dies or fails at a point leaves what a dead process or a full disk leaves."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

import pytest
from chaos.disk.mortal import Died, FailingDisk, MortalDisk

from ferryman.backends.files.disk import LocalDisk, SyncFailed

if TYPE_CHECKING:
    from pathlib import Path

    from ferryman.backends.files.disk import Disk


def create_and_sync(disk: Disk, folder: Path) -> None:
    disk.create(f"{folder}/file", b"1234", sync=True)
    disk.sync_folder(str(folder))


def append_and_sync(disk: Disk, folder: Path) -> None:
    disk.append(f"{folder}/file", b"1234")
    disk.sync_folder(str(folder))


CREATED = {0: None, 1: b"", 2: b"12", 3: b"1234", 4: b"1234"}


@pytest.mark.parametrize(("point", "left"), CREATED.items())
def test_a_process_can_die_at_each_step_of_a_create(
    point: int, left: bytes | None, tmp_path: Path
) -> None:
    mortal = MortalDisk()
    mortal.arm(point)
    with pytest.raises(Died):
        create_and_sync(mortal.disk, tmp_path)
    assert LocalDisk().read(f"{tmp_path}/file") == left


@pytest.mark.parametrize(("point", "left"), [(0, None), (1, b""), (2, b"12"), (3, b"1234")])
def test_a_process_can_die_at_each_step_of_an_append(
    point: int, left: bytes | None, tmp_path: Path
) -> None:
    mortal = MortalDisk()
    mortal.arm(point)
    with pytest.raises(Died):
        append_and_sync(mortal.disk, tmp_path)
    assert LocalDisk().read(f"{tmp_path}/file") == left


def test_the_dead_do_nothing_more_and_hold_no_lock(tmp_path: Path) -> None:
    mortal = MortalDisk()
    lock = mortal.disk.lock(str(tmp_path))
    assert lock is not None
    mortal.arm(0)
    with pytest.raises(Died):
        mortal.disk.make_folder(f"{tmp_path}/folder")
    with pytest.raises(Died):
        mortal.disk.unlock(lock)
    with pytest.raises(Died):
        mortal.disk.make_folder(f"{tmp_path}/folder")
    living = LocalDisk()
    assert living.names(str(tmp_path)) == []
    again = living.try_lock(str(tmp_path))
    assert again is not None
    living.unlock(again)


def test_every_call_is_counted_once_and_longer_ones_by_their_steps(tmp_path: Path) -> None:
    mortal = MortalDisk()
    mortal.disk.create(f"{tmp_path}/file", b"1234", sync=True)
    mortal.disk.create(f"{tmp_path}/other", b"1234", sync=False)
    mortal.disk.read(f"{tmp_path}/file")
    assert [what.split()[0] for what in mortal.seen] == ["create"] * 4 + ["create"] * 3 + ["read"]


def test_a_full_disk_leaves_half_a_file_and_can_be_repaired(tmp_path: Path) -> None:
    failing = FailingDisk(errno.ENOSPC, lasting=True)
    failing.arm(2)
    with pytest.raises(OSError, match="No space left"):
        failing.disk.create(f"{tmp_path}/file", b"1234", sync=True)
    assert LocalDisk().read(f"{tmp_path}/file") == b"12"
    with pytest.raises(OSError, match="No space left"):
        failing.disk.read(f"{tmp_path}/file")
    failing.repair()
    assert failing.disk.read(f"{tmp_path}/file") == b"12"


@pytest.mark.parametrize("point", [3, 4])
def test_a_failed_sync_is_told_as_one(point: int, tmp_path: Path) -> None:
    failing = FailingDisk(errno.EIO)
    failing.arm(point)
    with pytest.raises(SyncFailed):
        create_and_sync(failing.disk, tmp_path)
    assert failing.sync_failed
