"""prune: finished jobs are forgotten, the oldest first."""

from __future__ import annotations

import heapq
import json
import re
from typing import TYPE_CHECKING, Final

from ferryman.backends.files.layout import ENDS
from ferryman.backends.files.moments import moment_of
from ferryman.message import RUN

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ferryman.backends.files.store import Store
    from ferryman.job import State

_FINISHED: Final = re.compile(rb'^  "finished_at": "([^"]+)"', re.MULTILINE)
_OWED: Final = re.compile(rb'^  "handed_off": false', re.MULTILINE)


def prune(
    store: Store,
    before: float,
    *,
    states: Collection[State],
    keep: int,
    limit: int,
    spare: Collection[str],
) -> int:
    """Delete records that ended before a moment; `keep` spares the newest, `spare` whole runs."""
    store.check_root()
    chosen = [state for state in ENDS if not states or state in states]
    records = list(_records(store, chosen, spare))
    oldest = heapq.nsmallest(max(0, min(limit, len(records) - keep)), records)
    if oldest and oldest[0][0] < before:
        # A finished job's folder may come back with the power as long as its removal is not
        # durable, and then only the record keeps it from running again.
        for queue in store.queues():
            store.disk.sync_folder(store.folders(queue).pending)
    pruned = 0
    for finished_at, folder, name in oldest:
        if finished_at >= before:
            break
        path = f"{folder}/{name}"
        if _finished_at(store.disk.read(path)) != finished_at:
            continue  # retried since, and ended again
        store.commit()
        pruned += store.disk.unlink(path)
    for queue in store.queues():
        # Those too in which somebody pruned before, and died before that was durable.
        for state in chosen:
            store.disk.sync_folder(store.folders(queue).ends[state])
    return pruned


def _records(
    store: Store, states: Collection[State], spare: Collection[str]
) -> Iterator[tuple[float, str, str]]:
    for queue in store.queues():
        folders = store.folders(queue)
        for state in states:
            folder = folders.ends[state]
            for name in store.disk.names(folder) or ():
                content = store.disk.read(f"{folder}/{name}")
                finished_at = _finished_at(content)
                if finished_at is not None and not (spare and _run(content) in spare):
                    yield finished_at, folder, name


def _finished_at(content: bytes | None) -> float | None:
    """The end of a record, without reading the rest; None while its children are not there yet."""
    found = None if content is None else _FINISHED.search(content)
    if found is None or content is None or _OWED.search(content):
        return None
    try:
        return moment_of(found[1].decode())
    except ValueError:
        return None


def _run(content: bytes | None) -> str | None:
    """The run that a record belongs to."""
    try:
        meta = json.loads(content or b"{}").get("meta") or {}
    except ValueError:
        return None
    run = meta.get(RUN)
    return run if isinstance(run, str) else None
