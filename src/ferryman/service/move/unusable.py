"""What lies in a source and is no job: it stays there, and whoever empties it should know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.filter import Filter, Line
from ferryman.queue.diagnosis import Quarantining
from ferryman.service.move.report import Left

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend


def unusable(source: Backend, where: Filter) -> list[Left]:
    """In the queues that match; of what cannot be read, nobody can say more than its queue."""
    if not isinstance(source, Quarantining):
        return []
    queues = Filter(tuple(term for term in where.terms if term.field == "queue"))
    return [
        Left(one.path, one.queue, one.reason)
        for one in source.troubles()
        if Line(one.queue, "", "").matches(queues)
    ]
