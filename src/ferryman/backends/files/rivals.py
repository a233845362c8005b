"""Jobs that people put there, and others that have their id or their key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.files.keys import Key
from ferryman.backends.files.place import held
from ferryman.backends.files.reading import find_in
from ferryman.backends.files.removal import remove_job
from ferryman.backends.files.withdrawal import withdraw
from ferryman.errors import BackendRejected
from ferryman.job import TERMINAL

if TYPE_CHECKING:
    from ferryman.backends.files.place import Held
    from ferryman.backends.files.row import Row
    from ferryman.backends.files.store import Store


def is_second(store: Store, place: Held, row: Row) -> bool:
    """Whether another queue has the id: then this folder goes, or is set aside.

    Judged under the locks of both, so that of two that meet only one gives way.
    """
    try:
        return any(
            _gives_way(store, place, row, queue)
            for queue in store.queues()
            if queue != place.folders.queue
        )
    except BlockingIOError:
        # The other one may be judged just now: a sweep comes back to what has no mark.
        store.disk.set_hinted(place.lock, False)
        return True


def takes_key(store: Store, place: Held, row: Row) -> bool:
    """Whether the job may have its key; else it is set aside, or left to a later sweep.

    What a push has listed may: it was judged by its `unique`. The key is not waited for, because
    whoever holds it may be waiting for this job.
    """
    if row.key is None:
        return True
    try:
        with Key(store, store.make_queue(row.queue), row.key, wait=False) as key:
            if row.seq and key.lists(row.id):
                return True
            rival = key.rival(row.id)
            if rival is None:
                key.add(row.id)
                return True
            holds = f"the unfinished job {rival.id!r} holds its key {row.key!r}"
            reason = f"{holds}: wait for that one or cancel it"
    except BlockingIOError:
        return False
    except BackendRejected as error:
        reason = str(error)
    withdraw(store, place, reason)
    return False


def _gives_way(store: Store, place: Held, row: Row, queue: str) -> bool:
    others = store.folders(queue)
    with held(store, others, place.name, wait=False) as rival:
        other = find_in(store, others, place.name)
        if other is None or _comes_first(store, (place, row), (rival, other)):
            return False
        if row.is_rest_of(other):
            remove_job(store, place)
        else:
            reason = f"the job {row.id!r} is in queue {queue!r} already: give this another name"
            withdraw(store, place, reason)
        return True


def _comes_first(store: Store, mine: tuple[Held, Row], theirs: tuple[Held | None, Row]) -> bool:
    """Of two that are alike the one in line stays, else that of the queue named first."""
    (place, row), (rival, other) = mine, theirs
    if row.rank != other.rank or rival is None or other.state in TERMINAL:
        return row.rank > other.rank
    hinted = store.disk.hinted
    return (not hinted(place.lock), row.queue) < (not hinted(rival.lock), other.queue)
