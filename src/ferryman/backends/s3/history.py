"""prune: finished jobs are forgotten, the oldest first."""

from __future__ import annotations

import heapq
from functools import partial
from typing import TYPE_CHECKING

from ferryman.backends.files.document import Unreadable
from ferryman.backends.files.layout import ENDS
from ferryman.backends.files.names import name_of
from ferryman.backends.files.reading import read_record
from ferryman.backends.s3 import sight
from ferryman.backends.s3.hold import Hold
from ferryman.message import RUN

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ferryman.backends.files.row import Row
    from ferryman.backends.s3.node import Node
    from ferryman.job import State


def prune(
    node: Node,
    before: float,
    *,
    states: Collection[State],
    keep: int,
    limit: int,
    spare: Collection[str],
) -> int:
    """Delete records that ended before a moment; `keep` spares the newest."""
    node.mark.check()
    node.sync.at_least_recent()
    chosen = [state for state in ENDS if not states or state in states]
    rows = [row for row in _records(node, chosen) if (row.meta or {}).get(RUN) not in spare]
    wanted = max(0, min(limit, len(rows) - keep))
    oldest = heapq.nsmallest(wanted, rows, key=lambda row: row.finished_at or 0.0)
    old = [row for row in oldest if row.finished_at is not None and row.finished_at < before]
    return sum(node.each(partial(_prune, node), old))


def _prune(node: Node, row: Row) -> bool:
    """Delete one record, if it is still the one that was chosen."""
    name = name_of(row.id)
    key = node.home.record(row.queue, row.state, name)
    found = node.bucket.get(key)
    there = None if found is None else sight.read_record(found.body, row.queue, name, row.state)
    if found is not None and not _is(there, row):
        # Retried elsewhere since, and ended again: what is known here is old.
        if there is not None:
            node.mirror.keep_record(there)
        return False
    gone = found is not None and node.bucket.delete(key, found.etag)
    if gone:
        _drop_tombstone(node, row, name)
    node.store.disk.unlink(node.store.folders(row.queue).record(row.state, name))
    return gone


def _drop_tombstone(node: Node, row: Row, name: str) -> None:
    """It would tell of the job for as long as no node syncs; that of a later end must do so."""
    lease = node.home.lease(row.queue, name)
    found = node.bucket.get(lease)
    if found is None:
        return
    hold = Hold.read(found)
    if not hold.over or hold.generation > row.generation:
        return
    if node.bucket.get(node.home.task(row.queue, name)) is None:
        node.bucket.delete(lease, found.etag)


def _is(there: Row | None, row: Row) -> bool:
    ended = (row.generation, row.finished_at)
    return there is not None and (there.generation, there.finished_at) == ended


def _records(node: Node, states: Collection[State]) -> Iterator[Row]:
    """Records by the local tree; those whose children are not all there yet are left out."""
    store = node.store
    for queue in store.queues():
        folders = store.folders(queue)
        for state in states:
            for file in store.disk.names(folders.ends[state]) or ():
                try:
                    row = read_record(store, folders, state, file.removesuffix(".json"))
                except Unreadable:
                    continue
                if row is not None and not row.children:
                    row.state = state
                    yield row
