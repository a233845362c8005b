"""What operators do to single jobs, and purge."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Final

from ferryman.backends.files import endings
from ferryman.backends.files.names import name_of
from ferryman.backends.files.place import Place
from ferryman.backends.s3.entry import enter_text
from ferryman.backends.s3.errors import UnreadableObject
from ferryman.backends.s3.find import find
from ferryman.backends.s3.finish import GRACE, finish, fresh
from ferryman.backends.s3.hold import task_object
from ferryman.backends.s3.keys import Key
from ferryman.backends.s3.settle import land
from ferryman.backends.s3.sight import Sight, see, without_unreadable
from ferryman.backends.s3.swap import swap, swap_away
from ferryman.errors import JobNotFound, NotAllowed
from ferryman.job import WAITING, State
from ferryman.lifecycle import Act, act
from ferryman.queue.answers import Acted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.files.row import Row
    from ferryman.backends.s3.node import Node

_OF_ENDED: Final = (Act.RETRY, Act.DELETE)
"""What is done to jobs that are over."""
_TRIES: Final = 10
_PAUSE: Final = 0.1
"""Seconds between two looks at a job that somebody is about to finish."""


def perform(node: Node, verb: Act, ids: Sequence[str]) -> list[Acted]:
    """Do one act to each job, or say why not; an id that stands twice is acted on twice."""
    node.sync.at_least_fresh()
    if len(set(ids)) < len(ids):
        return [_perform(node, verb, job_id) for job_id in ids]
    acted = node.each(partial(_try, node, verb, in_turn=False), ids)
    # Those that have a key come one after the other: of two with the same, the first is retried.
    return [
        _perform(node, verb, job_id) if done is None else done
        for job_id, done in zip(ids, acted, strict=True)
    ]


def purge(node: Node, queue: str) -> int:
    """Delete the queue's jobs that wait, as the bucket has them now."""
    node.sync.refresh(queue)
    folders = node.store.folders(queue)
    names = node.store.disk.names(folders.pending) or ()
    return sum(node.each(partial(_purge, node, queue), sorted(names)))


def _purge(node: Node, queue: str, name: str) -> bool:
    sight = node.mirror.read(Place(node.store.folders(queue), name))
    for _ in range(_TRIES):
        if sight is None or sight.by_people or sight.gone or sight.row.state not in WAITING:
            return False
        if _delete(node, sight):
            return True
        sight = without_unreadable(partial(see, node, queue, name))
    return False


def _perform(node: Node, verb: Act, job_id: str) -> Acted:
    acted = _try(node, verb, job_id, in_turn=True)
    return acted or Acted(job_id, None, f"job {job_id!r} keeps changing: try again")


def _try(node: Node, verb: Act, job_id: str, *, in_turn: bool) -> Acted | None:
    """What became of one job; None: a retry with a key, which is done only in its turn."""
    try:
        return _try_readable(node, verb, job_id, in_turn=in_turn)
    except UnreadableObject as unreadable:
        return Acted(job_id, None, str(unreadable))


def _try_readable(node: Node, verb: Act, job_id: str, *, in_turn: bool) -> Acted | None:
    known = _at_hand(node, verb, job_id)
    if known is not None:
        return known
    state: State | None = None
    for _ in range(_TRIES):
        sight = _find(node, verb, job_id)
        if sight is None:
            return Acted(job_id, None, str(JobNotFound(job_id)))
        if sight.owed and verb in _OF_ENDED:
            finish(node, sight)
            continue
        state = sight.row.state
        if verb is Act.RETRY and sight.row.key is not None and not in_turn:
            return None
        try:
            after = act(state, verb, job_id)
            if _done(node, sight, verb, after):
                return Acted(job_id, after)
        except NotAllowed as refusal:
            return Acted(job_id, state, str(refusal))
        # Somebody was faster: look at what it is now.
    return Acted(job_id, state, f"job {job_id!r} keeps changing: try again")


def _find(node: Node, verb: Act, job_id: str) -> Sight | None:
    """The job as it is; before its end is undone, whoever ended it has time to finish that."""
    until = time.monotonic() + GRACE
    while True:
        sight = find(node, job_id, records=verb in _OF_ENDED)
        unfinished = sight is not None and sight.owed and fresh(node, sight)
        if verb not in _OF_ENDED or not unfinished or time.monotonic() > until:
            return sight
        time.sleep(_PAUSE)


def _at_hand(node: Node, verb: Act, job_id: str) -> Acted | None:
    """Act on what this node knows, without a read: the conditional write says if it was right."""
    if verb in _OF_ENDED:
        return None
    name = name_of(job_id)
    for queue in node.store.queues():
        sight = node.mirror.read(Place(node.store.folders(queue), name))
        if sight is None or sight.by_people or sight.row.id != job_id:
            continue
        try:
            after = act(sight.row.state, verb, job_id)
        except NotAllowed:
            return None
        return Acted(job_id, after) if _done(node, sight, verb, after) else None
    return None


def _done(node: Node, sight: Sight, verb: Act, after: State) -> bool:
    if verb is Act.DELETE:
        return _delete(node, sight)
    if verb is Act.RETRY:
        return _retry(node, sight)
    row = sight.fork()
    if after is State.PROCESSING:
        # A cancel that was asked is never softened to a pause.
        row.asked = "cancel" if verb is Act.CANCEL else row.asked or "pause"
        written = swap(node, sight, row, turn=sight.turn)
    else:
        endings.end(row, after, node.store.now())
        written = swap(node, sight, row)
    if written is None:
        return False
    land(node, written)
    return True


def _delete(node: Node, sight: Sight) -> bool:
    """The hold says first that the job is gone; then its objects go, and whoever finds some left.

    A finished job whose hold is gone already has only its record, and no other node claims it.
    """
    if sight.task is None and sight.hold is None:
        name = name_of(sight.row.id)
        for state, etag in sight.records.items():
            if not node.bucket.delete(node.home.record(sight.row.queue, state, name), etag):
                return False
        node.mirror.forget(sight.row.queue, name)
        return True
    gone = swap_away(node, sight, sight.fork())
    if gone is None:
        return False
    finish(node, gone)
    return True


def _retry(node: Node, sight: Sight) -> bool:
    """The next generation enters; then the record goes. Between the two the generation decides."""
    row = sight.fork()
    row.renew(node.store.now())
    task = task_object(row)
    if row.key is not None:
        _take_key(node, row, task)
    name = name_of(row.id)
    if not isinstance(enter_text(node, row.queue, name, task), Sight):
        return False
    for state, etag in sight.records.items():
        node.bucket.delete(node.home.record(row.queue, state, name), etag)
    return True


def _take_key(node: Node, row: Row, task: bytes) -> None:
    key = Key(node, row.queue, row.key or "")
    if key.take("unfinished", row.id, row.created_at, task) is not None:
        raise NotAllowed(
            f"job {row.id!r} cannot be retried while an unfinished job of queue "
            f"{row.queue!r} holds its key {row.key!r}: wait for that one or cancel it"
        )
