"""A whole job that cannot stay goes to quarantine, and comes back with its history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.files.document import (
    Unreadable,
    add_history,
    history_text,
    parse,
    row_of,
    row_of_file,
)
from ferryman.backends.files.names import fitting, text_of
from ferryman.backends.files.quarantine import set_aside
from ferryman.backends.files.removal import remove_job
from ferryman.job import TERMINAL

if TYPE_CHECKING:
    from ferryman.backends.files.place import Held
    from ferryman.backends.files.store import Store


def withdraw(store: Store, place: Held, reason: str) -> None:
    """Move a locked job's task to quarantine, its history beside it; the folder goes."""
    reason = _with_file(store, place, reason)
    # Without the mark a sweep finds what is left, should this process die on the way.
    store.disk.set_hinted(place.lock, False)
    _keep_history(store, place)
    set_aside(store, place.folders, f"{place.path}/task.json", place.name, reason)
    remove_job(store, place)


def take_back(store: Store, place: Held) -> bool:
    """Let a task that came back from quarantine go on where it stood; whether it did."""
    disk, stem = store.disk, _stem(place)
    past = disk.read(f"{stem}.history.json")
    if past is None or disk.exists(f"{stem}.json") or disk.exists("history.json", place.lock):
        return False
    text = _anew(place, disk.read("task.json", place.lock) or b"", past)
    if text is None:
        return False
    disk.rename(f"{stem}.history.json", "history.json", at=place.lock)
    store.put_in(place, "history.json", text, sync=True)
    return True


def _stem(place: Held) -> str:
    return f"{place.folders.quarantine}/{fitting(place.name)}"


def _keep_history(store: Store, place: Held) -> None:
    """Under a second name: as long as the task is there it has its history, whoever dies."""
    disk, stem, path = store.disk, _stem(place), f"{place.path}/history.json"
    history, kept = disk.look(path), disk.look(f"{stem}.history.json")
    if history is None or (kept is not None and kept.inode == history.inode):
        return
    if kept is not None:
        stem = f"{stem},{store.nonce()}"
    disk.link(path, f"{stem}.history.json")


def _anew(place: Held, task: bytes, past: bytes) -> bytes | None:
    """The text of the task's history, without what others noted in it; None if it is another's.

    Where the task tells its birth both agree, and a finished task tells its past itself. A torn
    history stays as it is: its reader says what is wrong.
    """
    try:
        row = row_of_file(parse(task), place.folders.queue, text_of(place.name))
    except Unreadable:
        return None
    if row.state in TERMINAL:
        return None
    created_at, seq = row.created_at, row.seq
    try:
        add_history(row, parse(past))
    except Unreadable:
        return past
    agrees = created_at in (0.0, row.created_at) and seq in (0, row.seq)
    return history_text(row) if agrees else None


def _with_file(store: Store, place: Held, reason: str) -> str:
    """The reason, and which file it is about where that is not the task."""
    queue, name = place.folders.queue, text_of(place.name)
    past = store.disk.read("history.json", place.lock)
    try:
        row = row_of(parse(store.disk.read("task.json", place.lock) or b""), queue, name)
    except Unreadable:
        return reason
    try:
        if past is not None:
            add_history(row, parse(past))
    except Unreadable as error:
        file = f"{fitting(place.name)}.history.json"
        return (
            f"{place.path}/history.json cannot be read: {error}; mend {file} beside this, or "
            "delete it to let the job begin anew"
        )
    return reason
