"""What follows from a finished record: hand over the children, take the job's folder away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.files.document import record_text
from ferryman.backends.files.layout import ENDS
from ferryman.backends.files.names import name_of
from ferryman.backends.files.place import held
from ferryman.backends.files.push import push
from ferryman.backends.files.reading import record_of
from ferryman.backends.files.removal import mark_paused, remove_job
from ferryman.backends.files.withdrawal import withdraw

if TYPE_CHECKING:
    from ferryman.backends.files.layout import Folders
    from ferryman.backends.files.place import Held
    from ferryman.backends.files.row import Row
    from ferryman.backends.files.store import Store


def finish_if_ended(store: Store, place: Held, row: Row, *, trust_mark: bool = True) -> bool:
    """Whether a locked job is over: then finish what its record's writer left undone.

    Whoever writes a record takes the job's mark off first, so a marked job is not over; only a loss
    of power may keep the record and bring back the mark. Other work that was dropped under the id
    is set aside.
    """
    if trust_mark and store.disk.hinted(place.lock):
        return False
    folders, name = place.folders, place.name
    if not store.ended(folders, name):
        return False
    record = record_of(store, folders, name)
    if record is None:
        return False
    if record.generation < row.generation:
        drop_older_records(store, folders, name, row.generation)
        return False
    with store.baton.let_go():
        # Its writer may have died before the record was durable, and now the job goes for good.
        store.disk.sync_folder(folders.ends[record.state])
        if not row.is_rest_of(record):
            withdraw(store, place, _taken(record))
        finish(store, place, record)
    return True


def finish(store: Store, place: Held, record: Row) -> None:
    """Repeatable: children have derived ids, and files that are gone stay gone."""
    if record.children:
        push(store, record.children)
        hand_off(store, place.folders, record)
    mark_paused(store, place, False)
    remove_job(store, place)


def finish_by_name(store: Store, folders: Folders, record: Row) -> None:
    """Finish a record that was found without its job's lock."""
    name = name_of(record.id)
    with held(store, folders, name) as place:
        latest = None if place is None else record_of(store, folders, name)
        if place and latest is not None and latest.generation == record.generation:
            store.disk.sync_folder(folders.ends[latest.state])
            finish(store, place, latest)


def hand_off(store: Store, folders: Folders, record: Row) -> None:
    """Write down that the children are there."""
    path = folders.record(record.state, name_of(record.id))
    store.put(path, record_text(record, handed_off=True))


def drop_older_records(store: Store, folders: Folders, name: str, generation: int) -> None:
    """Remove records that a retry has left behind."""
    record = record_of(store, folders, name)
    if record is not None and record.generation < generation:
        drop_all_records(store, folders, name)


def drop_all_records(store: Store, folders: Folders, name: str) -> None:
    """For good: once the job itself is gone, one that came back would count as it."""
    for state in ENDS:
        store.disk.unlink(folders.record(state, name))
    for folder in folders.ends.values():
        store.disk.sync_folder(folder)


def _taken(record: Row) -> str:
    return (
        f"the job {record.id!r} is {record.state} already, with another task, version or payload: "
        "give this one another name, or delete that job first"
    )
