"""The one write that changes a job: the next version of its `lease.json`, if nobody was faster."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ferryman.backends.files.names import name_of
from ferryman.backends.s3.answers import Lost
from ferryman.backends.s3.errors import Overtaken
from ferryman.backends.s3.hold import gone_text, hold_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ferryman.backends.files.row import Row
    from ferryman.backends.s3.node import Node
    from ferryman.backends.s3.sight import Sight


def swap(node: Node, sight: Sight, row: Row, *, turn: int = 0) -> Sight | None:
    """Make a job what the row says; None if it is no longer as it was seen.

    None may also follow a write that was applied and overtaken at once: whoever gets it looks
    again, and tells by the fence and the mark of the settlement.
    """
    _doubt(node, sight)
    return write(node, sight, row, turn=turn)


def write(node: Node, sight: Sight, row: Row, *, turn: int = 0) -> Sight | None:
    """The same for a job that is marked as being changed; no call to the disk."""
    change, now = sight.change + 1, node.store.now()
    etag = _put(node, sight, hold_text(row, sight.task or "", change, now, turn))
    if etag is None:
        return None
    written = replace(sight, row=row, hold=etag, change=change, turn=turn, at=now)
    written.owed, written.recorded = row.state.terminal, False
    return written


def swap_away(
    node: Node, sight: Sight, row: Row, moved: Mapping[str, Any] | None = None
) -> Sight | None:
    """Delete a job, or move it to another queue; None if it is no longer as it was seen."""
    change, now = sight.change + 1, node.store.now()
    _doubt(node, sight)
    etag = _put(node, sight, gone_text(sight, change, now, moved))
    if etag is None:
        return None
    written = replace(sight, row=row, hold=etag, change=change, at=now)
    written.owed, written.gone, written.moved = True, True, moved
    return written


def _doubt(node: Node, sight: Sight) -> None:
    node.doubts.begin(sight.row.queue, name_of(sight.row.id))


def _put(node: Node, sight: Sight, body: bytes) -> str | None:
    queue, name = sight.row.queue, name_of(sight.row.id)
    key = node.home.lease(queue, name)
    try:
        if sight.hold is None:
            written = node.bucket.put_new(key, body)
        else:
            written = node.bucket.put_over(key, body, sight.hold)
    except Overtaken:
        return None
    return None if isinstance(written, Lost) else written
