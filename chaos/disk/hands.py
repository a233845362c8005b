"""People who use their hands on a store, and the acts that take in what they left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from chaos.disk.scenes import ACK, FAIL, KEYED, LATE, A, B, C, Scene
from chaos.disk.steps import Step, message, operate, poll, push, reap, settle

if TYPE_CHECKING:
    from collections.abc import Callable

    from chaos.disk.steps import Stage
    from ferryman.backends.files.disk import Disk

_DROPPED: Final = b'{"task": "task", "payload": {"by": "hand"}}'
_BY_HAND: Final = {"by": "hand"}
_HISTORY: Final = (
    b'{"id": "h", "created_at": "2020-01-01T00:00:00Z", "seq": 1, '
    b'"ready_at": "2020-01-01T00:00:00Z", "fence": 0, "attempts": 0}'
)


def by_hand(do: Callable[[Disk, str], object], same_as: Step | None = None) -> Step:
    """Something done to the files; `same_as` is the verb by which the reference follows."""

    def played(stage: Stage) -> None:
        if stage.files is not None:
            do(*stage.files)
        elif same_as is not None:
            same_as.do(stage)

    return Step("by hand", played, lasting=False)


def _folder(disk: Disk, root: str) -> None:
    disk.make_folder(f"{root}/mail/pending/h")
    disk.create(f"{root}/mail/pending/h/task.json", _DROPPED, sync=False)


def _file(disk: Disk, root: str) -> None:
    disk.create(f"{root}/mail/pending/h.json", _DROPPED, sync=False)


def _moved_file(disk: Disk, root: str) -> None:
    disk.rename(f"{root}/mail/failed/h.json", f"{root}/mail/pending/h.json")


def _moved_folder(disk: Disk, root: str) -> None:
    disk.make_folder(f"{root}/mail/pending/h")
    disk.rename(f"{root}/mail/failed/h.json", f"{root}/mail/pending/h/task.json")


def _copied(disk: Disk, root: str) -> None:
    content = disk.read(f"{root}/mail/pending/a/task.json")
    disk.make_folder(f"{root}/mail/pending/h")
    disk.create(f"{root}/mail/pending/h/task.json", content or b"", sync=False)


def _corrupt(disk: Disk, root: str) -> None:
    disk.make_folder(f"{root}/mail/pending/h")
    disk.create(f"{root}/mail/pending/h/task.json", b'{"task": "tas', sync=False)


def _stray(disk: Disk, root: str) -> None:
    disk.create(f"{root}/mail/pending/notes.txt", b"call Bob", sync=False)


def _keyed(disk: Disk, root: str) -> None:
    content = _DROPPED.replace(b"}}", b'}, "key": "once"}')
    disk.create(f"{root}/mail/pending/h.json", content, sync=False)


def _twins(disk: Disk, root: str) -> None:
    _folder(disk, root)
    disk.make_folder(f"{root}/scan/pending/h")
    disk.create(f"{root}/scan/pending/h/task.json", _DROPPED, sync=False)


def _torn_history(disk: Disk, root: str) -> None:
    _folder(disk, root)
    disk.create(f"{root}/mail/pending/h/history.json", _HISTORY[:30], sync=False)


def _mended(disk: Disk, root: str) -> None:
    disk.create(f"{root}/mail/quarantine/h.history.json", _HISTORY, sync=False)
    _file(disk, root)


def _stranger(disk: Disk, root: str) -> None:
    disk.create(f"{root}/mail/pending/a/task.json~", b"call Bob", sync=False)


def _hints_gone(disk: Disk, root: str) -> None:
    for name in disk.names(f"{root}/mail/.ready") or ():
        disk.unlink(f"{root}/mail/.ready/{name}")


def _tidied(disk: Disk, root: str) -> None:
    """Every empty folder is gone, as from a copy by git."""
    for home in (root, f"{root}/mail", f"{root}/scan"):
        for name in disk.names(home) or ():
            if disk.names(f"{home}/{name}") == []:
                disk.remove_folder(f"{home}/{name}")


DROPPED = push(message("h", payload=_BY_HAND, max_attempts=5, backoff=None))
FAILED = [push(message("h", payload=_BY_HAND), A), poll(), settle(FAIL, "h")]
BACK = operate("retry", "h")
CLAIMED = [push(A, B, C), poll(), by_hand(_tidied)]
WAITING = [push(A), by_hand(_tidied)]
TORN = [push(B), by_hand(_corrupt), by_hand(_tidied)]
DONE = [push(A, message("h")), poll(), settle(ACK, "h")]
KEPT = push(message("h", payload=_BY_HAND, max_attempts=5, backoff=None, key="once"))

HANDS: Final = (
    Scene("adopt a dropped folder", [push(B), by_hand(_folder, DROPPED)], poll(), by_hand=True),
    Scene("adopt a dropped file", [push(B), by_hand(_file, DROPPED)], poll(), by_hand=True),
    Scene("adopt a file moved back", [*FAILED, by_hand(_moved_file, BACK)], poll(), by_hand=True),
    Scene(
        "adopt a folder moved back", [*FAILED, by_hand(_moved_folder, BACK)], poll(), by_hand=True
    ),
    Scene("set a torn file aside", [push(B), by_hand(_corrupt)], poll(), by_hand=True, aside=1),
    Scene("set a stray file aside", [push(B), by_hand(_stray)], poll(), by_hand=True, aside=1),
    Scene("set other work aside", [*DONE, by_hand(_file)], poll(), by_hand=True, aside=1),
    Scene(
        "set one of two aside",
        [push(B, C), by_hand(_twins, DROPPED)],
        poll(),
        by_hand=True,
        aside=1,
    ),
    Scene(
        "set a torn history aside", [push(B), by_hand(_torn_history)], poll(), by_hand=True, aside=1
    ),
    Scene("adopt a mended file", [push(B), by_hand(_mended, DROPPED)], poll(), by_hand=True),
    Scene("adopt a key", [push(B), by_hand(_keyed, KEPT)], poll(), by_hand=True),
    Scene(
        "set a stranger aside",
        [push(A, B), by_hand(_stranger)],
        operate("cancel", "a"),
        by_hand=True,
        aside=1,
    ),
    Scene("rebuild", [push(A, B), by_hand(_hints_gone)], poll(), by_hand=True),
    Scene(
        "rebuild with every kind",
        [
            push(A, B, message("d", delay=30.0), message("e", expires=500.0)),
            operate("pause", "b"),
            by_hand(_hints_gone),
        ],
        poll(),
        by_hand=True,
    ),
    Scene("ack without folders", CLAIMED, settle(ACK, children=1), by_hand=True),
    Scene("fail without folders", CLAIMED, settle(FAIL), by_hand=True),
    Scene("reap without folders", [*CLAIMED, LATE], reap(), by_hand=True),
    Scene("push without folders", WAITING, push(KEYED, B), by_hand=True),
    Scene("pause without folders", WAITING, operate("pause", "a"), by_hand=True),
    Scene("set aside without folders", TORN, poll(), by_hand=True, aside=1),
)
