"""What becomes of a pushed message or a restored job: a new row, one that is there, a conflict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.job import WAITING
from ferryman.queue.answers import Pushed, make_pushed
from ferryman.queue.arrival import as_message

if TYPE_CHECKING:
    from ferryman.backends.memory.store import Store
    from ferryman.job import Job
    from ferryman.message import Message


def accept(store: Store, message: Message, now: float) -> Pushed:
    """Write one message by the rules of `push`: the id decides first, then the key."""
    row = store.rows.get(message.id)
    if row is not None:
        if _same_work(message, row.message):
            return Pushed(row.id, "existing")
        if not message.replace or row.state not in WAITING:
            return Pushed(row.id, "conflict")
        store.replace(row, message, now)
        return Pushed(row.id, "replaced")
    if message.key is not None:
        holder = store.keys.holder(message.queue, message.key, message.unique, now)
        if holder is not None and message.unique == "replace":
            store.replace(holder, message, now)
            return Pushed(holder.id, "replaced")
        if holder is not None:
            return Pushed(holder.id, "existing")
    store.add(message, now)
    return make_pushed(message.id, "created")


def is_new(store: Store, message: Message, now: float) -> bool:
    """Whether `accept` would make a row for this message."""
    if message.id in store.rows:
        return False
    holder = message.key and store.keys.holder(message.queue, message.key, message.unique, now)
    return not holder


def take_in(store: Store, job: Job, now: float) -> Pushed:
    """Write one job by the rules of `restore`: it never changes a row that is there."""
    row = store.rows.get(job.id)
    if row is not None:
        same = _same_work(as_message(job), row.message)
        return Pushed(job.id, "existing" if same else "conflict")
    unfinished_key = None if job.state.terminal else job.key
    if unfinished_key and store.keys.holder(job.queue, unfinished_key, "unfinished", now):
        return Pushed(job.id, "conflict")
    store.restore(job, now)
    return Pushed(job.id, "created")


def _same_work(message: Message, known: Message) -> bool:
    return message.same_work(known.queue, known.task, known.version, known.body)
