"""The simulated disk answers as the real one does, and forgets only what was not synced."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from chaos.disk.inodes import Inodes
from chaos.disk.losses import fingerprint, losses
from chaos.disk.simulated import SimulatedDisk

from ferryman.backends.files.disk import LocalDisk
from ferryman.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ferryman.backends.files.disk import Disk

NAMES = (
    "one",
    "two",
    "folder",
    "folder/one",
    "folder/deep",
    "folder/deep/one",
    "log",
    "folder/log",
)

VERBS = (
    *("read", "read_from", "create", "create", "append", "drop", "link", "rename", "move_folder"),
    *("unlink", "make_folder", "make_folder", "remove_folder", "exists", "look", "names"),
    "sync_folder",
)


def disk_in_memory(moment: Callable[[], object] = lambda: None) -> SimulatedDisk:
    return SimulatedDisk(Inodes(), FakeClock(), moment)


def after_losses(disk: SimulatedDisk, count: int = 200) -> list[SimulatedDisk]:
    clock = FakeClock()
    return [SimulatedDisk(tree, clock) for tree in losses(disk.inodes, Random(1), count)]


def answer(disk: Disk, verb: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    try:
        found = getattr(disk, verb)(*arguments, **options)
    except OSError as error:
        # Which of several reasons a kernel names first is its own affair.
        return f"refused: exists {isinstance(error, FileExistsError)}"
    if verb == "names":
        return found and sorted(found)
    if verb == "look":
        return found and (found.folder, found.file, found.hinted, found.file and found.size)
    return found


def calls(chance: Random, root: str) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    verb = chance.choice(VERBS)
    path = f"{root}/{chance.choice(NAMES)}"
    other = f"{root}/{chance.choice(NAMES)}"
    content = b"x" * chance.randrange(5)
    match verb:
        case "create":
            return verb, (path, content), {"sync": chance.random() < 0.5}
        case "append":
            return verb, (path, content), {}
        case "drop":
            return verb, (path, chance.randrange(8)), {}
        case "read_from":
            return verb, (path, chance.randrange(4), 3), {}
        case "link" | "rename" | "move_folder":
            return verb, (path, other), {}
        case _:
            return verb, (path,), {}


def fits(disk: Disk, verb: str, arguments: tuple[Any, ...]) -> bool:
    """Whether the backend may ask for that: files are linked and renamed, folders moved."""
    if str(arguments[0]).endswith("log") and verb in {"create", "make_folder"}:
        return False
    found = disk.look(arguments[0])
    if verb in {"append", "drop"}:
        # Logs are neither linked nor renamed.
        return str(arguments[0]).endswith("/log")
    if verb in {"link", "rename", "move_folder"}:
        if "/log" in str(arguments):
            return False
        if found is None or found.folder is not (verb == "move_folder"):
            return False
        return not str(arguments[1]).startswith(f"{arguments[0]}/") and arguments[0] != arguments[1]
    return not (found and found.folder and verb in {"unlink", "read_from"})


@pytest.mark.parametrize("seed", range(40))
def test_it_answers_as_a_real_disk_does(seed: int, tmp_path: Path) -> None:
    chance = Random(seed)
    real, simulated = LocalDisk(), disk_in_memory()
    for _ in range(150):
        verb, (name, *rest), options = calls(chance, "")
        on_real = [f"{tmp_path}{one}" if isinstance(one, str) else one for one in (name, *rest)]
        if not fits(real, verb, tuple(on_real)):
            continue
        told = answer(real, verb, tuple(on_real), options)
        assert answer(simulated, verb, (name, *rest), options) == told, (verb, name, rest)
    real.close()


def test_calls_inside_a_locked_folder_see_that_folder_alone(tmp_path: Path) -> None:
    real, simulated = LocalDisk(), disk_in_memory()
    told = []
    for disk, root in ((real, str(tmp_path)), (simulated, "")):
        disk.make_folder(f"{root}/job")
        lock = disk.lock(f"{root}/job")
        assert lock is not None
        disk.create("task.json", b"1", sync=True, at=lock)
        disk.create(f"{root}/lease", b"2", sync=False)
        linked = [disk.link(f"{root}/lease", "lease.json", at=lock) for _ in range(2)]
        disk.sync_folder("", at=lock)
        for hinted in (True, False, True):
            disk.set_hinted(lock, hinted)
            found = disk.look(f"{root}/job")
            assert found is not None
            assert found.hinted is hinted
        seen = (sorted(disk.names("", at=lock) or ()), disk.read("lease.json", at=lock), linked)
        removed = [disk.unlink(name, at=lock) for name in ("task.json", "lease.json", "none")]
        disk.remove_folder(f"{root}/job")
        with pytest.raises(FileNotFoundError):
            disk.create("task.json", b"3", sync=False, at=lock)
        told.append((seen, removed, disk.names("", at=lock), disk.exists("task.json", at=lock)))
        disk.unlock(lock)
    assert told[0] == told[1]


def test_a_held_lock_is_refused_until_it_is_freed() -> None:
    disk = disk_in_memory()
    disk.make_folder("/job")
    lock = disk.try_lock("/job")
    assert lock is not None
    with pytest.raises(BlockingIOError):
        disk.try_lock("/job")
    disk.unlock(lock)
    assert disk.try_lock("/job") is not None
    assert disk.lock("/none") is None


def test_what_was_not_synced_may_or_may_not_survive() -> None:
    disk = disk_in_memory()
    disk.create("/file", b"content", sync=False)
    found = {left.read("/file") for left in after_losses(disk)}
    assert {None, b"", b"content", b"con"} <= found


def test_synced_content_without_its_name_may_be_gone() -> None:
    disk = disk_in_memory()
    disk.create("/file", b"content", sync=True)
    assert {left.read("/file") for left in after_losses(disk)} == {None, b"content"}


def test_what_was_synced_with_its_name_survives() -> None:
    disk = disk_in_memory()
    disk.create("/file", b"content", sync=True)
    disk.sync_folder("/")
    disk.append("/file", b" and more")
    found = {left.read("/file") for left in after_losses(disk)}
    assert {b"content", b"content and more"} <= found
    assert None not in found


def test_a_rename_happened_whole_or_not_at_all() -> None:
    disk = disk_in_memory()
    disk.make_folder("/draft")
    disk.create("/draft/new", b"new", sync=True)
    disk.create("/file", b"old", sync=True)
    disk.sync_folder("/draft")
    disk.sync_folder("/")
    disk.rename("/draft/new", "/file")
    found = {(left.read("/draft/new"), left.read("/file")) for left in after_losses(disk)}
    assert found == {(b"new", b"old"), (None, b"new")}
    disk.sync_folder("/")
    found = {(left.read("/draft/new"), left.read("/file")) for left in after_losses(disk)}
    assert found == {(None, b"new")}


def test_changes_of_one_folder_survive_in_any_combination() -> None:
    disk = disk_in_memory()
    for name in ("one", "two"):
        disk.create(f"/{name}", b"", sync=True)
    disk.sync_folder("/")
    disk.unlink("/one")
    disk.unlink("/two")
    found = {(left.exists("/one"), left.exists("/two")) for left in after_losses(disk)}
    assert found == {(False, False), (False, True), (True, False), (True, True)}


def test_a_new_folder_keeps_its_synced_names_only_if_its_own_name_was_synced() -> None:
    disk = disk_in_memory()
    disk.make_folder("/job")
    disk.create("/job/task.json", b"1", sync=True)
    disk.sync_folder("/job")
    assert {left.read("/job/task.json") for left in after_losses(disk)} == {None, b"1"}
    disk.sync_folder("/")
    assert {left.read("/job/task.json") for left in after_losses(disk)} == {b"1"}


def test_two_names_of_one_file_stay_one_file() -> None:
    disk = disk_in_memory()
    disk.create("/one", b"1", sync=True)
    disk.link("/one", "/two")
    disk.sync_folder("/")
    for left in after_losses(disk, 3):
        left.append("/one", b"2")
        assert left.read("/two") == b"12"


def test_power_can_be_lost_at_each_step_of_a_call() -> None:
    seen: list[bytes | None] = []
    disk = disk_in_memory(lambda: seen.append(disk.read("/file")))
    disk.create("/file", b"1234", sync=True)
    assert seen == [None, b"", b"12", b"1234"]


def test_equal_trees_have_equal_fingerprints() -> None:
    one, two = disk_in_memory(), disk_in_memory()
    for disk, names in ((one, "ab"), (two, "ba")):
        for name in names:
            disk.create(f"/{name}", name.encode(), sync=False)
    assert fingerprint(one.inodes) == fingerprint(two.inodes)
    two.append("/a", b"!")
    assert fingerprint(one.inodes) != fingerprint(two.inodes)
