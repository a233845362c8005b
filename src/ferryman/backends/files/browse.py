"""get and list: what operators see, read without any lock."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Final

from ferryman.backends.files.document import Unreadable
from ferryman.backends.files.errors import lies_in
from ferryman.backends.files.finish import finish_by_name
from ferryman.backends.files.layout import ENDS
from ferryman.backends.files.names import is_ours, name_of
from ferryman.backends.files.reading import find, find_in, read_record
from ferryman.backends.files.removal import FILES
from ferryman.errors import InvalidFilter
from ferryman.job import TERMINAL
from ferryman.queue.answers import Page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ferryman.backends.files.desk import Desk
    from ferryman.backends.files.layout import Folders
    from ferryman.backends.files.row import Row
    from ferryman.backends.files.store import Store
    from ferryman.filter import Filter
    from ferryman.job import Job, State

_BESIDE_THE_TASK: Final = frozenset(FILES) - {"task.json"}

Mark = tuple[int, str]
"""Where a job stands in the push order: its seq, then its id for two processes at one instant."""


def get(desk: Desk, job_id: str) -> Job | None:
    """The whole job. Children that its record still owes are handed over first."""
    found = find(desk.store, job_id)
    if found is None:
        return None
    folders, row = found
    if row.children:
        finish_by_name(desk.store, folders, row)
    return row.job(whole=True)


def list_jobs(
    store: Store,
    where: Filter,
    limit: int,
    after: str | None,
    finish: Callable[[Store, Folders, Row], None] | None = None,
) -> Page:
    """One page: every job that the filter may mean is read, the newest `limit` are kept.

    `finish` is done to those that are found to be over and still owe their children.
    """
    below = _mark(after)
    now = store.now()
    newest: list[Mark] = []
    jobs: dict[Mark, Job] = {}
    for row in _rows(store, where, finish):
        mark = (row.seq, row.id)
        full = len(newest) > limit
        if (below is not None and mark >= below) or (full and mark < newest[0]) or mark in jobs:
            continue
        job = row.job()
        if where.matches(job, now):
            jobs[mark] = job
            heapq.heappush(newest, mark)
            if full:
                del jobs[heapq.heappop(newest)]
    newest.sort(reverse=True)
    page = newest[: max(0, limit)]
    more = f"{page[-1][0]}:{page[-1][1]}" if page and len(newest) > limit else None
    return Page(tuple(jobs[mark] for mark in page), more)


def _rows(
    store: Store, where: Filter, finish: Callable[[Store, Folders, Row], None] | None
) -> Iterator[Row]:
    store.check_root()
    ids = _asked(where, "id")
    queues, states = _asked(where, "queue"), _asked(where, "state")
    for queue in store.queues():
        if queues is not None and queue not in queues:
            continue
        folders = store.folders(queue)
        if ids is not None:
            found = (find_in(store, folders, name_of(job_id)) for job_id in ids)
            yield from (row for row in found if row is not None)
            continue
        yield from _unfinished(store, folders, states, finish)
        yield from finished(store, folders, states)


def _unfinished(
    store: Store,
    folders: Folders,
    states: set[str] | None,
    finish: Callable[[Store, Folders, Row], None] | None,
) -> Iterator[Row]:
    if states is not None and states <= TERMINAL:
        return
    for name in store.disk.names(folders.pending) or ():
        row = _job(store, folders, name)
        if row is None:
            continue
        if row.state not in TERMINAL:
            yield row
        elif row.children and finish is not None:
            # Whoever learns that it is over must find what follows from it.
            finish(store, folders, row)


def _job(store: Store, folders: Folders, name: str) -> Row | None:
    """A job by its name; what is no job, or not yet, is left out."""
    path, reason = folders.job(name), "no worker that polls this queue has taken it in yet"
    try:
        row = find_in(store, folders, name) if is_ours(name) else None
        if row is not None or name.startswith(".") or _is_rest(store, path):
            return row
    except OSError as error:
        if not lies_in(error, path):
            raise
        reason = error.strerror or str(error)
    store.left_out[path] = (folders.queue, reason)
    return None


def _is_rest(store: Store, path: str) -> bool:
    """Whether it is what a job left that was just removed: a folder without a task."""
    inside = store.disk.names(path)
    return inside is not None and _BESIDE_THE_TASK.issuperset(inside)


def finished(store: Store, folders: Folders, states: set[str] | None = None) -> Iterator[Row]:
    """The records of a queue; those that cannot be read are left out."""
    for state in ENDS:
        if states is not None and state not in states:
            continue
        for name in store.disk.names(folders.ends[state]) or ():
            if not name.endswith(".json") or not is_ours(name):
                continue
            row = _record(store, folders, state, name.removesuffix(".json"))
            if row is not None:
                yield row


def _record(store: Store, folders: Folders, state: State, name: str) -> Row | None:
    """A record, unless the job lives on: a retry makes the new folder before the record goes."""
    if store.disk.exists(folders.job(name)):
        found = find_in(store, folders, name)
        return found if found is not None and found.state is state else None
    path = folders.record(state, name)
    try:
        row = read_record(store, folders, state, name)
    except Unreadable as error:
        store.left_out[path] = (folders.queue, str(error))
        return None
    store.left_out.pop(path, None)
    if row is not None:
        row.state = state
    return row


def _asked(where: Filter, field: str) -> set[str] | None:
    """The values to which the filter confines a field; None if it does not."""
    for term in where.terms:
        if term.field == field and term.op == "is" and not term.negated:
            return {str(value) for value in term.values}
    return None


def _mark(after: str | None) -> Mark | None:
    if after is None:
        return None
    seq, colon, job_id = after.partition(":")
    if not colon or not seq.isascii() or not seq.isdecimal():
        raise InvalidFilter(f"after={after!r} is not the `next` of a page")
    return int(seq), job_id
