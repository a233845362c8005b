"""A job by its id, wherever it is."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ferryman.backends.files.names import name_of
from ferryman.backends.s3.errors import UnreadableObject
from ferryman.backends.s3.moving import move
from ferryman.backends.s3.sight import Sight, check_id, see

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.s3.node import Node


def find(node: Node, job_id: str, *, records: bool = False) -> Sight | None:
    """A job where this node knows it first, then in every queue; None if there is none.

    One whose mover died on the way to another queue arrives there first.
    """
    name = name_of(job_id)
    queues = node.store.queues()
    known = [queue for queue in queues if node.mirror.knows(queue, name)]
    look = partial(_see_in, node, name, records)
    found = list(node.each(look, known))
    sight = _first(found, job_id, name)
    if sight is None:
        rest = [queue for queue in node.sync.queues() if queue not in known]
        found += node.each(look, rest)
        sight = _first(found, job_id, name)
    if sight is None:
        sight = _first([look(queue) for queue in _moved(node, found)], job_id, name)
    if sight is None:
        for each in found:
            if isinstance(each, UnreadableObject):
                raise each
    return sight


def _see_in(node: Node, name: str, records: bool, queue: str) -> Sight | UnreadableObject | None:
    """Not raised yet: the job may be in another queue."""
    try:
        return see(node, queue, name, records=records)
    except UnreadableObject as unreadable:
        return unreadable


def _first(
    found: Sequence[Sight | UnreadableObject | None], job_id: str, name: str
) -> Sight | None:
    for sight in found:
        if isinstance(sight, Sight) and not sight.gone:
            check_id(sight.row, job_id, name)
            return sight
    return None


def _moved(node: Node, found: Sequence[Sight | UnreadableObject | None]) -> Sequence[str]:
    """Let those arrive that are on their way; their new queues."""
    queues = []
    for sight in found:
        if isinstance(sight, Sight) and sight.moved is not None and sight.task is not None:
            move(node, sight)
            queues.append(sight.moved["queue"])
    return queues
