"""What follows from a hold that is over; repeatable, and whoever finds it undone does it.

The order is the safety: the record stands before the task goes, so that at every moment one of them
tells that the id is known; the children stand before the record says so.

For a while it is left to whoever ended the job, and who comes late looks whether others have done
it: else a record could be written after an operator has deleted or retried the job.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ferryman.backends.files.document import record_text
from ferryman.backends.files.names import name_of
from ferryman.backends.s3.errors import UnreadableObject
from ferryman.backends.s3.moving import move
from ferryman.backends.s3.push import number, push_readable
from ferryman.backends.s3.sight import read_record, see

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.files.row import Row
    from ferryman.backends.s3.answers import Object
    from ferryman.backends.s3.node import Node
    from ferryman.backends.s3.sight import Sight
    from ferryman.message import Message

GRACE: Final = 10.0
"""Seconds for which an ended job is left to whoever ended it."""


def fresh(node: Node, sight: Sight) -> bool:
    """Whether the one who ended a job may still be about to finish it."""
    return sight.at > node.store.now() - GRACE


def finish(node: Node, sight: Sight, numbers: Sequence[int] | None = None) -> None:
    """Write the record, hand over the children, take the task away; then show it locally.

    `UnreadableObject`, if a child cannot enter because of another object: the rest stays undone.
    `numbers` are the places of the children in the push order, if they were taken before.
    """
    row = sight.row
    name = name_of(row.id)
    if _overtaken(node, sight, name):
        return
    if sight.gone:
        move(node, sight)
    else:
        etag = _record(node, sight, name)
        if row.children:
            _hand_over(node, row.children, numbers)
            if etag is not None:
                key = node.home.record(row.queue, row.state, name)
                node.bucket.put_over(key, record_text(row, handed_off=True), etag)
            row.children = ()
    for state, found in sight.records.items():
        if sight.gone or state is not row.state:
            node.bucket.delete(node.home.record(row.queue, state, name), found)
    if sight.task is not None:
        node.bucket.delete(node.home.task(row.queue, name), sight.task)
    node.mirror.keep(replace(sight, owed=False))


def _overtaken(node: Node, sight: Sight, name: str) -> bool:
    """Whether others have finished it: the task goes last, and after it anything may happen."""
    if sight.task is None or sight.at > node.store.now() - GRACE / 2:
        return False
    queue = sight.row.queue
    task = node.bucket.get(node.home.task(queue, name))
    if task is not None and task.etag == sight.task:
        return False
    now = see(node, queue, name)
    if now is None:
        node.mirror.forget(queue, name)
    else:
        node.mirror.keep(now)
    return True


def _hand_over(node: Node, children: Sequence[Message], numbers: Sequence[int] | None) -> None:
    for answer in push_readable(node, children, numbers or number(node, children)):
        # What nobody can read in the place of a child was handed over once; not so for its key.
        if isinstance(answer, UnreadableObject) and node.home.spot(answer.key) is None:
            raise answer


def _record(node: Node, sight: Sight, name: str) -> str | None:
    """Put the record where it belongs; its etag, or None if a later one stands there."""
    row = sight.row
    if sight.recorded:
        return sight.records.get(row.state)
    key, body = node.home.record(row.queue, row.state, name), record_text(row)
    written = node.bucket.put_new(key, body)
    if isinstance(written, str):
        return written
    return None if written.found is None else _over_older(node, key, body, row, written.found)


def _over_older(node: Node, key: str, body: bytes, row: Row, found: Object) -> str | None:
    there = read_record(found.body, row.queue, name_of(row.id), row.state)
    if there is None or there.generation < row.generation:
        written = node.bucket.put_over(key, body, found.etag)
        return written if isinstance(written, str) else None
    # Another finisher's: what it handed over need not be marked again.
    return found.etag if there.children and there.generation == row.generation else None
