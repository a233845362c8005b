"""replace: another body for a job that waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ferryman.backends.files.names import name_of
from ferryman.backends.s3.hold import task_object
from ferryman.backends.s3.moving import move
from ferryman.backends.s3.sight import see
from ferryman.backends.s3.swap import swap, swap_away
from ferryman.job import WAITING

if TYPE_CHECKING:
    from ferryman.backends.files.row import Row
    from ferryman.backends.s3.node import Node
    from ferryman.backends.s3.sight import Sight
    from ferryman.message import Message

_TRIES: Final = 10


def replace(node: Node, seen: Sight, message: Message) -> bool:
    """Put a message's body and options into a job; False if it waits no longer."""
    sight: Sight | None = seen
    for _ in range(_TRIES):
        if sight is None or sight.gone or sight.owed or sight.row.state not in WAITING:
            return False
        row = sight.fork()
        now = node.store.now()
        row.adopt(message, now)
        if message.ready_at is None:
            node.put_off(row, now)
        row.start_anew()
        if message.queue != row.queue:
            if _lives(node, message.queue, name_of(row.id)):
                return False  # two machines have pushed it into two queues
            written = _replace_elsewhere(node, sight, row, message.queue)
        else:
            row.revision += 1
            written = swap(node, sight, row)
            if written is not None:
                node.mirror.keep(written)
        if written is not None:
            return True
        sight = see(node, seen.row.queue, name_of(seen.row.id))
    return False


def _lives(node: Node, queue: str, name: str) -> bool:
    there = see(node, queue, name, records=True)
    return there is not None and not there.gone


def _replace_elsewhere(node: Node, sight: Sight, row: Row, queue: str) -> Sight | None:
    """The new task is decided on with the end of the old one, and enters after it."""
    old, name = row.queue, name_of(row.id)
    row.queue, row.revision, row.own_facts = queue, 0, True
    moved = {"queue": queue, "task": task_object(row).decode()}
    gone = swap_away(node, sight, sight.fork(), moved)
    if gone is None:
        return None
    move(node, gone)
    if gone.task is not None:
        node.bucket.delete(node.home.task(old, name), gone.task)
    node.mirror.keep(gone)
    return gone
