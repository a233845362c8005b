"""A job's files read together, and jobs found by their id."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING
from unicodedata import normalize

from ferryman.backends.files.document import Unreadable, add_history, parse, row_of, row_of_file
from ferryman.backends.files.layout import ENDS
from ferryman.backends.files.lease import Lease
from ferryman.backends.files.moments import whole
from ferryman.backends.files.names import name_of, text_of
from ferryman.backends.files.place import Place
from ferryman.errors import BackendRejected
from ferryman.job import TERMINAL, State

if TYPE_CHECKING:
    from ferryman.backends.files.layout import Folders
    from ferryman.backends.files.row import Row
    from ferryman.backends.files.store import Store
    from ferryman.job import Ask


def read_job(store: Store, place: Place) -> Row | None:
    """An unfinished job, with its lease if it has one; None if there is none.

    Without the lock it is still one moment's truth, because the lease is read before the history
    that would end it. Raises `Unreadable` for a task or history that is not whole.
    """
    content = store.disk.read(place.inside("lease.json"), place.lock)
    row = read_waiting(store, place)
    if row is None or content is None:
        return row
    lease = Lease.read(content)
    if lease is not None and lease.fence > row.fence:
        add_lease(row, lease)
        row.asked = read_ask(store, place, lease.fence)
    return row


def read_waiting(store: Store, place: Place) -> Row | None:
    """The job by its task and history alone."""
    content = store.disk.read(place.inside("task.json"), place.lock)
    if content is None:
        return None
    row = row_of_file(parse(content), place.folders.queue, text_of(place.name))
    if not row.created_at:
        _date(store, place, row)
    past = store.disk.read(place.inside("history.json"), place.lock)
    if past is not None:
        add_history(row, parse(past))
    elif row.state.terminal:
        row.renew(row.finished_at or row.created_at)
    if name_of(row.id) != place.name:
        row.id = _id_in(place, row.id)
    return row


def _id_in(place: Place, told: str) -> str:
    """The id of a job whose task tells another: a copy, or edited; its folder says which it is.

    Where a file system takes two spellings for one name, it is the job of the other spelling.
    """
    here = text_of(place.name)
    return told if _spelled_alike(told, here) else here


def _spelled_alike(one: str, other: str) -> bool:
    return normalize("NFKC", one).casefold() == normalize("NFKC", other).casefold()


def _date(store: Store, place: Place, row: Row) -> None:
    """Somebody dropped a task that does not say since when it waits."""
    seen = store.disk.look(place.inside("task.json"), place.lock)
    if seen is not None:
        row.created_at = whole(seen.changed_at)
        row.ready_at = row.ready_at or row.created_at


def add_lease(row: Row, lease: Lease) -> None:
    """Show a job as its current claim makes it."""
    row.state = State.PROCESSING
    row.fence = lease.fence
    row.attempts = lease.attempts
    row.worker = lease.worker
    row.started_at = lease.created_at
    row.heartbeat_at = lease.heartbeat_at
    row.expires_at = lease.expires_at
    row.report(lease.percent, lease.note, ())


def read_ask(store: Store, place: Place, fence: int) -> Ask | None:
    """What an operator asked of this claim; an ask of an earlier claim is void."""
    content = store.disk.read(place.inside("ask.json"), place.lock)
    if content is None:
        return None
    try:
        facts = parse(content)
    except Unreadable:
        return None
    asked = facts.get("asked") if facts.get("fence") == fence else None
    return asked if asked in ("cancel", "pause") else None


def read_record(store: Store, folders: Folders, state: State, name: str) -> Row | None:
    content = store.disk.read(folders.record(state, name))
    return None if content is None else row_of(parse(content), folders.queue, text_of(name))


def record_of(store: Store, folders: Folders, name: str) -> Row | None:
    """The record of the latest generation; unreadable ones are passed over."""
    found: list[Row] = []
    for state in ENDS:
        try:
            row = read_record(store, folders, state, name)
        except Unreadable:
            continue
        if row is not None:
            # The folder is what people see and move files between: it says the state.
            row.state = state
            found.append(row)
    return max(found, key=lambda row: (row.generation, row.fence), default=None)


def find(store: Store, job_id: str) -> tuple[Folders, Row] | None:
    """A job by its id, wherever it is. Raises `BackendRejected` if its name holds another's."""
    name = name_of(job_id)
    # A job that ends or is retried moves between two folders: look again before saying no.
    for _ in range(2):
        for queue in store.queues():
            folders = store.folders(queue)
            row = find_in(store, folders, name)
            if row is not None:
                if row.id != job_id:
                    raise BackendRejected(
                        f"the name {name!r} in queue {queue!r} belongs to job {row.id!r}, so job "
                        f"{job_id!r} cannot be kept here: choose another id"
                    )
                return folders, row
    _refuse_unreadable(store, name)
    return None


def _refuse_unreadable(store: Store, name: str) -> None:
    """A job that cannot be read is not one that never was."""
    for queue in store.queues():
        folders = store.folders(queue)
        files = [f"{folders.job(name)}/task.json", *(folders.record(end, name) for end in ENDS)]
        for path in files:
            content = store.disk.read(path)
            try:
                if content is not None:
                    row_of(parse(content), queue, text_of(name))
            except Unreadable as error:
                raise BackendRejected(
                    f"{path} cannot be read: {error}; mend it or take it away, and try again"
                ) from None


def make_durable(store: Store, folders: Folders, row: Row) -> None:
    """Before an answer relies on what somebody else wrote, and may not have synced yet."""
    if row.state in TERMINAL:
        store.disk.sync_folder(folders.ends[row.state])
        return
    with contextlib.suppress(FileNotFoundError):  # it has just moved on, durably
        store.disk.sync_folder(folders.job(name_of(row.id)))
    store.disk.sync_folder(folders.pending)


def find_in(store: Store, folders: Folders, name: str) -> Row | None:
    """A job of one queue: a record wins over a folder of its own or an earlier generation."""
    try:
        row = read_job(store, Place(folders, name))
    except Unreadable:
        row = None
    ended = record_of(store, folders, name)
    if ended is not None and (row is None or ended.generation >= row.generation):
        return ended
    return row
