"""settle: the end of a claim is one conditional write; what follows from it can be repeated."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from ferryman.backends.files import endings
from ferryman.backends.files.names import name_of
from ferryman.backends.files.place import Place
from ferryman.backends.s3.errors import UnreadableObject
from ferryman.backends.s3.find import find
from ferryman.backends.s3.finish import finish, fresh
from ferryman.backends.s3.push import number
from ferryman.backends.s3.sight import see, without_unreadable
from ferryman.backends.s3.swap import swap
from ferryman.errors import BackendUnavailable
from ferryman.job import State
from ferryman.queue.settlement import Receipt, make_receipt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferryman.backends.files.row import Row
    from ferryman.backends.s3.node import Node
    from ferryman.backends.s3.sight import Sight
    from ferryman.queue.heartbeat import Beat
    from ferryman.queue.settlement import Settlement

TRIES: Final = 10
T = TypeVar("T", "Settlement", "Beat")


def settle(node: Node, settlements: Sequence[Settlement]) -> list[Receipt]:
    """One receipt for each settlement, in order."""
    receipts: list[Receipt] = []
    for run in runs(settlements):
        # The children stand in the order of the batch, although their parents end together.
        numbered = [(settlement, number(node, settlement.children)) for settlement in run]
        receipts += node.each(partial(_settle, node), numbered)
    return receipts


def runs(batch: Sequence[T]) -> Iterator[list[T]]:
    """Settlements or beats of different jobs, which can be sent at the same time."""
    run: list[T] = []
    ids: set[str] = set()
    for each in batch:
        if each.job_id in ids:
            yield run
            run, ids = [], set()
        run.append(each)
        ids.add(each.job_id)
    if run:
        yield run


def _settle(node: Node, numbered: tuple[Settlement, Sequence[int]]) -> Receipt:
    settlement, numbers = numbered
    job_id, name = settlement.job_id, name_of(settlement.job_id)
    sight = node.claims.pop(job_id, None)
    if sight is None or not _holds(sight.row, settlement):
        place = Place(node.store.folders(settlement.queue), name)
        sight = node.mirror.read(place)
    for _ in range(TRIES):
        if sight is None or not _holds(sight.row, settlement):
            # What is known here may be old: only the bucket can say that a claim is lost.
            sight = without_unreadable(partial(see, node, settlement.queue, name))
            if sight is None or sight.gone or not _holds(sight.row, settlement):
                return _refuse(node, settlement, sight)
        row = sight.fork()
        now = node.store.now()
        endings.settle(row, settlement, now)
        node.put_off(row, now)
        written = swap(node, sight, row)
        if written is not None:
            land(node, written, numbers)
            return make_receipt(job_id, True, row.state)
        sight = None
    raise BackendUnavailable(f"job {job_id!r} keeps changing: settle it again")


def land(node: Node, written: Sight, numbers: Sequence[int] | None = None) -> None:
    """What follows from the write that ended a claim; what cannot be done, the passes name."""
    node.claims.pop(written.row.id, None)
    if written.owed:
        with contextlib.suppress(UnreadableObject):
            finish(node, written, numbers)
    else:
        node.mirror.keep(written)


def take_over(node: Node, seen: Sight) -> None:
    """The same for a job that somebody else has ended; its own time for it is left to that one."""
    if seen.owed and fresh(node, seen):
        node.claims.pop(seen.row.id, None)
        node.mirror.keep(seen)
    else:
        land(node, seen)


def _refuse(node: Node, settlement: Settlement, sight: Sight | None) -> Receipt:
    """A claim that is not current: applied all the same if this very settlement ended it."""
    if sight is None or sight.gone:
        # Whoever replaced it since may have moved it to another queue.
        sight = without_unreadable(partial(find, node, settlement.job_id))
    if sight is None:
        return Receipt(settlement.job_id, False)
    applied = sight.row.settled == settlement.mark
    if applied:
        # Its sender may have died before it could finish what follows.
        land(node, sight)
    return make_receipt(settlement.job_id, applied, sight.row.state)


def _holds(row: Row, settlement: Settlement) -> bool:
    claim = (row.fence, row.worker)
    return row.state is State.PROCESSING and claim == (settlement.fence, settlement.worker)
