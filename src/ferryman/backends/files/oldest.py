"""Since when the job that stands longest in a queue's line is due, found by the hints."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from ferryman.backends.files.document import Unreadable
from ferryman.backends.files.hints import HOUR, parse_bucket
from ferryman.backends.files.line import CHUNK, facts_of
from ferryman.backends.files.names import name_of
from ferryman.backends.files.reading import find_in
from ferryman.job import State

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ferryman.backends.files.layout import Folders
    from ferryman.backends.files.store import Store


def oldest_ready(
    store: Store, folders: Folders, waiting: Collection[str], now: float
) -> float | None:
    """The earliest `ready_at` of the `waiting` names that has passed, to the minute.

    The logs are read from the oldest on, and no further than to the first job that still waits.
    """
    oldest = inf
    for start, log, size in _logs(store, folders, now):
        if start > oldest:
            break
        for chunk in _chunks(store, log, size):
            found = _first(store, folders, chunk, waiting, now)
            if found is not None:
                oldest = min(oldest, found)
                break
    return None if oldest == inf else oldest


def _logs(store: Store, folders: Folders, now: float) -> list[tuple[int, str, int]]:
    """The logs of what may be due by now, oldest first, and how much of each to read at once."""
    logs = []
    for name in store.disk.names(folders.ready) or ():
        if (bucket := parse_bucket(name)) is not None and bucket[1] <= now:
            _, start, end = bucket
            # Within an hour the lines stand in no order, within a minute it hardly matters.
            size = 1 << 30 if end - start == HOUR else CHUNK
            logs.append((start, f"{folders.ready}/{name}", size))
    return sorted(logs)


def _chunks(store: Store, log: str, size: int) -> Iterator[bytes]:
    offset = 0
    while chunk := store.disk.read_from(log, offset, size):
        whole = chunk[: chunk.rfind(b"\n") + 1] or chunk
        offset += len(whole)
        yield whole


def _first(
    store: Store, folders: Folders, chunk: bytes, waiting: Collection[str], now: float
) -> float | None:
    hints = ((facts[0], name_of(facts[3])) for facts in facts_of(chunk) if facts[0] <= now)
    for _, name in sorted(hint for hint in hints if hint[1] in waiting):
        try:
            row = find_in(store, folders, name)
        except Unreadable:
            continue
        if row is not None and row.state is State.PENDING and row.ready_at <= now:
            return row.ready_at
    return None
