"""What operators do to single jobs, and purge."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Final

from ferryman.backends.files import endings
from ferryman.backends.files.document import Unreadable, history_text
from ferryman.backends.files.entry import enter
from ferryman.backends.files.finish import drop_all_records, finish_if_ended
from ferryman.backends.files.hints import announce
from ferryman.backends.files.keys import Key
from ferryman.backends.files.layout import ENDS
from ferryman.backends.files.lease import Lease
from ferryman.backends.files.moments import text_of
from ferryman.backends.files.names import name_of
from ferryman.backends.files.place import held
from ferryman.backends.files.reading import find, make_durable, read_job, record_of
from ferryman.backends.files.record import end_in_record
from ferryman.backends.files.removal import forget_job, mark_paused
from ferryman.errors import JobNotFound, NotAllowed
from ferryman.job import TERMINAL, WAITING, State
from ferryman.lifecycle import Act, act
from ferryman.queue.answers import Acted

if TYPE_CHECKING:
    from ferryman.backends.files.desk import Desk
    from ferryman.backends.files.layout import Folders
    from ferryman.backends.files.place import Held
    from ferryman.backends.files.row import Row
    from ferryman.backends.files.store import Store

_TRIES: Final = 10


def perform(desk: Desk, job_id: str, verb: Act) -> Acted:
    """Do one act to one job, or say why not."""
    for _ in range(_TRIES):
        found = find(desk.store, job_id)
        if found is None:
            if verb is Act.DELETE:
                _make_absence_durable(desk.store, name_of(job_id))
            return Acted(job_id, None, str(JobNotFound(job_id)))
        folders, row = found
        acted = (_on_record if row.state in TERMINAL else _on_job)(desk, folders, row, verb)
        if acted is not None:
            return acted
        # It ended, was retried or deleted between the look and the lock.
    return Acted(job_id, row.state, f"job {job_id!r} keeps changing: try again")


def _make_absence_durable(store: Store, name: str) -> None:
    """Whoever deleted the job may have died before that was durable, or before it was done."""
    for queue in store.queues():
        folders = store.folders(queue)
        with held(store, folders, name) as place:
            if place is not None and not store.disk.exists("task.json", place.lock):
                forget_job(store, place)
        for folder in (folders.pending, *folders.ends.values()):
            store.disk.sync_folder(folder)


def _refused(store: Store, folders: Folders, row: Row, refusal: NotAllowed) -> Acted:
    """The answer tells a state, and that must hold whoever wrote it."""
    make_durable(store, folders, row)
    return Acted(row.id, row.state, str(refusal))


def purge(desk: Desk, queue: str) -> int:
    """Delete the queue's jobs that wait, those too that somebody has just dropped."""
    store, folders = desk.store, desk.store.folders(queue)
    store.check_root()
    desk.sweeper.sweep(folders)
    purged = 0
    for name in store.disk.names(folders.pending) or ():
        with held(store, folders, name) as place:
            purged += place is not None and _purge(desk, place)
    if store.disk.exists(folders.pending):
        store.disk.sync_folder(folders.pending)
    return purged


def _purge(desk: Desk, place: Held) -> bool:
    try:
        row = read_job(desk.store, place)
    except Unreadable as error:
        desk.adoption.set_aside(place, str(error))
        return False
    if row is None:
        forget_job(desk.store, place)
        return False
    if row.state not in WAITING or finish_if_ended(desk.store, place, row):
        return False
    _forget(desk.store, place, row.generation)
    return True


def _on_record(desk: Desk, folders: Folders, seen: Row, verb: Act) -> Acted | None:
    """Acts on a finished job: retry and delete. One at a time: an empty folder is their lock."""
    store, name = desk.store, name_of(seen.id)
    if not _finished(desk, folders, name):
        return None
    store.disk.make_folder(folders.job(name))
    with held(store, folders, name) as place:
        row = record_of(store, folders, name)
        if place is None or row is None or store.disk.exists("task.json", place.lock):
            return None
        try:
            act(row.state, verb, row.id)
            if verb is Act.RETRY:
                return _retry_with_key(desk, folders, row)
            _forget_record(store, folders, row)
            return Acted(row.id, row.state)
        except NotAllowed as refusal:
            return _refused(store, folders, row, refusal)
        finally:
            with contextlib.suppress(OSError):  # a sweep finds it
                store.disk.remove_folder(place.path)


def _forget_record(store: Store, folders: Folders, row: Row) -> None:
    # The folder of the job may come back with the power until its removal is durable.
    store.disk.sync_folder(folders.pending)
    store.commit()
    for state in ENDS:
        store.disk.unlink(folders.record(state, name_of(row.id)))
    store.disk.sync_folder(folders.ends[row.state])


def _finished(desk: Desk, folders: Folders, name: str) -> bool:
    """Let a finished job's folder, if a crash left it, be taken away before its record is used."""
    with held(desk.store, folders, name) as place:
        if place is None:
            return True
        try:
            row = read_job(desk.store, place)
        except Unreadable as error:
            return desk.adoption.set_aside(place, str(error))
        if row is not None:
            return finish_if_ended(desk.store, place, row, trust_mark=False)
        if desk.store.disk.names(place.path, place.lock):
            # The next generation could not be moved here. An empty folder may be another's lock.
            forget_job(desk.store, place)
        return True


def _retry_with_key(desk: Desk, folders: Folders, row: Row) -> Acted | None:
    if row.key is None:
        return _retry(desk, folders, row)
    with Key(desk.store, folders, row.key) as key:
        if key.rival(row.id) is not None:
            raise NotAllowed(
                f"job {row.id!r} cannot be retried while an unfinished job of queue "
                f"{row.queue!r} holds its key {row.key!r}: wait for that one or cancel it"
            )
        key.add(row.id)
        return _retry(desk, folders, row)


def _retry(desk: Desk, folders: Folders, row: Row) -> Acted | None:
    """The next generation enters; then the record goes. Between the two the generation decides."""
    now = desk.store.now()

    def drop_records() -> None:
        drop_all_records(desk.store, folders, name_of(row.id))

    row.renew(now)
    entered = enter(desk.store, [row], now, succeed=drop_records)
    return Acted(row.id, State.PENDING) if entered else None


def _on_job(desk: Desk, folders: Folders, seen: Row, verb: Act) -> Acted | None:
    """Acts on an unfinished job, under its lock; None if it is no longer there."""
    store, name = desk.store, name_of(seen.id)
    with held(store, folders, name) as place:
        try:
            row = None if place is None else read_job(store, place)
        except Unreadable:
            return None
        if place is None or row is None or finish_if_ended(store, place, row):
            return None
        try:
            after = act(row.state, verb, row.id)
        except NotAllowed as refusal:
            return _refused(store, folders, row, refusal)
        if verb is Act.DELETE:
            _forget(store, place, row.generation)
            store.disk.sync_folder(folders.pending)
        elif after is State.PROCESSING:
            _ask(store, place, row, verb)
        else:
            _change(store, place, row, after)
        return Acted(row.id, after)


def _change(store: Store, place: Held, row: Row, after: State) -> None:
    now = store.now()
    endings.end(row, after, now)
    if after in TERMINAL:
        end_in_record(store, place, row, now)
        return
    if after is State.PAUSED:
        mark_paused(store, place, True)
    else:
        # The folder of hints may have gone with the power.
        announce(store, store.make_queue(row.queue), row, now)
    store.commit()
    store.put_in(place, "history.json", history_text(row), sync=True)
    mark_paused(store, place, after is State.PAUSED)


def _ask(store: Store, place: Held, row: Row, verb: Act) -> None:
    # A cancel that was asked is never softened to a pause.
    asked = "cancel" if verb is Act.CANCEL else row.asked or "pause"
    facts = {"asked": asked, "fence": row.fence, "at": text_of(store.now())}
    content = json.dumps(facts, indent=2).encode() + b"\n"
    store.commit()
    store.put_in(place, "ask.json", content, sync=True)
    lease = Lease.read(store.disk.read("lease.json", place.lock) or b"")
    if lease is not None:
        # Its worker knows the lease that it wrote, and looks for asks when it finds another one.
        # Synced, because the ask is void without the claim that it is about.
        lease.nonce = store.nonce()
        store.put_in(place, "lease.json", lease.text(), sync=True)


def _forget(store: Store, place: Held, generation: int) -> None:
    if generation > 1:
        # Its retry may have died before the removal of the record was durable.
        drop_all_records(store, place.folders, place.name)
    store.disk.set_hinted(place.lock, False)
    store.commit()
    mark_paused(store, place, False)
    forget_job(store, place)
