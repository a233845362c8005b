"""A job enters its queue by one write of `task.json`, where none stands."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ferryman.backends.files.document import parse
from ferryman.backends.files.layout import ENDS
from ferryman.backends.files.names import name_of
from ferryman.backends.s3.answers import Lost, Object
from ferryman.backends.s3.errors import Overtaken, UnreadableObject
from ferryman.backends.s3.hold import row_of_task, task_object
from ferryman.backends.s3.sight import Sight, read_record, refuse_unreadable

if TYPE_CHECKING:
    from ferryman.backends.files.row import Row
    from ferryman.backends.s3.node import Node


def enter(node: Node, row: Row, *, keep: bool = True) -> Sight | Object | None:
    """Write a new job: as it stands now, or the `task.json` that was there before.

    Afterwards it looks for a finished record of this generation or a later one, and takes its task
    back if there is one (None): of a push and an end that cross, one sees the other. Without `keep`
    the caller holds the lock of the job's folder and shows it there.
    """
    return _enter(node, row, task_object(row), keep=keep)


def enter_text(node: Node, queue: str, name: str, body: bytes) -> Sight | Object | None:
    """The same with a text that was decided on before, by whoever comes first."""
    return _enter(node, row_of_task(parse(body), queue, name), body)


def _enter(node: Node, row: Row, body: bytes, *, keep: bool = True) -> Sight | Object | None:
    name = name_of(row.id)
    key = node.home.task(row.queue, name)
    node.registry.register(row.queue)
    try:
        written = node.bucket.put_new(key, body)
    except Overtaken as overtaken:
        if overtaken.found is None:
            raise
        written = Lost(overtaken.found)
    if isinstance(written, Lost):
        return written.found
    try:
        over = recorded(node, row.queue, name, row.generation)
    except UnreadableObject:
        node.bucket.delete(key, written)
        raise
    if over:
        node.bucket.delete(key, written)
        return None
    sight = Sight(row, written)
    if keep:
        node.mirror.keep(sight)
    return sight


def recorded(node: Node, queue: str, name: str, generation: int) -> bool:
    """Whether a finished record of this generation or a later one stands.

    `UnreadableObject`, if only one stands that nobody can read: it may be of any generation.
    """
    keys = [node.home.record(queue, state, name) for state in ENDS]
    found = node.together([partial(node.bucket.get, key) for key in keys])
    ended = dict(zip(ENDS, found, strict=True))
    for state, record in ended.items():
        row = None if record is None else read_record(record.body, queue, name, state)
        if row is not None and row.generation >= generation:
            return True
    refuse_unreadable(node, queue, name, ended)
    return False
