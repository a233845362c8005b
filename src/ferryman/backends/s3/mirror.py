"""The local tree as a mirror of the bucket: readable, and where candidates are found.

Files are those of the file backend. `history.json` has one field more, `s3`: the etags of the
objects in the bucket that the folder shows, and the number of the hold's version. A folder without
it was made by people, and its job is not in the bucket yet. `lease.json` has it, too: one that is a
version ahead of the history is a claim, which leaves the history alone.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from ferryman.backends.files.document import (
    Unreadable,
    add_history,
    history_text,
    parse,
    record_text,
    task_text,
)
from ferryman.backends.files.hints import announce
from ferryman.backends.files.layout import ENDS
from ferryman.backends.files.lease import Lease
from ferryman.backends.files.moments import text_of as moment_text
from ferryman.backends.files.names import name_of
from ferryman.backends.files.place import Held, Place, held
from ferryman.backends.files.reading import add_lease, read_ask, record_of
from ferryman.backends.files.removal import mark_paused, remove_job
from ferryman.backends.s3.hold import check_row, row_of_task
from ferryman.backends.s3.location import Consistency
from ferryman.backends.s3.sight import Sight
from ferryman.job import State

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferryman.backends.files.layout import Folders
    from ferryman.backends.files.row import Row
    from ferryman.backends.s3.node import Node


# Whose lease it is when nobody can read it.
_NOBODY: Final = "nobody"
_LOOKS: Final = 3
_ETAGS: Final = {"task": str | None, "lease": str | None, "change": int, "raised": int | None}


class Mirror:
    """Writes what was seen in the bucket into the local tree, never older over newer."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._store = node.store
        # A relaxed node's own leases are the file backend's, and know nothing of the bucket.
        self._strict = node.location.consistency is Consistency.STRICT

    def knows(self, queue: str, name: str) -> bool:
        """Whether the local tree has a job of this name in a queue, in whatever state."""
        folders = self._store.folders(queue)
        return self._store.disk.exists(folders.job(name)) or self._store.ended(folders, name)

    def task_of(self, queue: str, name: str) -> str | None:
        """The etag of the task that the local tree shows, if it shows one."""
        seen = self.read(Place(self._store.folders(queue), name))
        return None if seen is None else seen.task

    def keep(self, sight: Sight) -> None:
        """Show a job as it was seen."""
        row = sight.row
        folders, name = self._store.make_queue(row.queue), name_of(row.id)
        while True:
            with held(self._store, folders, name) as place:
                if place is not None:
                    self.write(place, sight)
                    return
            if sight.gone or row.state.terminal:
                self._end(folders, name, sight)
                break
            if self._enter(folders, name, sight):
                break
        self._node.doubts.end(row.queue, name)

    def keep_record(self, row: Row) -> None:
        """Show a finished record that a listing led to."""
        folders, name = self._store.make_queue(row.queue), name_of(row.id)
        self._end(folders, name, Sight(row))

    def write(self, place: Held, sight: Sight) -> None:
        """Show it in a locked folder, unless that tells of a later moment."""
        seen = self.read(place)
        if seen is not None and _later(seen, sight):
            pass
        elif sight.gone or sight.row.state.terminal:
            self._end(place.folders, place.name, sight)
            self.drop(place, seen)
        elif not self._over(place.folders, place.name, sight.row):
            self._rewrite(place, seen, sight)
        self._node.doubts.end(place.folders.queue, place.name)

    def claim(self, place: Held, claimed: Sight) -> None:
        """Show a claim in a folder that has been locked since it showed the job as waiting.

        The lease says all that is new; the history stays as it was before.
        """
        if not self._over(place.folders, place.name, claimed.row):
            self._lease(place, claimed)

    def show(self, place: Held, seen: Sight | None, sight: Sight) -> None:
        """Show it in a locked folder, whatever that tells. What has no task is no job yet."""
        if seen is None:
            self._store.put_in(place, "history.json", _history(sight), sync=False)
        self._rewrite(place, seen, sight)

    def read(self, place: Place) -> Sight | None:
        """A job as the local tree has it; None if there is none or its files are torn.

        Without the lock the files may be of two moments: they are read again until they agree, for
        an old story with a new etag would pass every condition.
        """
        for _ in range(1 if place.lock is not None else _LOOKS):
            sight, whole = self._read(place)
            if whole:
                return sight
        return None

    def _read(self, place: Place) -> tuple[Sight | None, bool]:
        disk = self._store.disk
        lease_text = disk.read(place.inside("lease.json"), place.lock)
        task = disk.read(place.inside("task.json"), place.lock)
        if task is None:
            return None, True
        try:
            row = row_of_task(parse(task), place.folders.queue, place.name)
            past = disk.read(place.inside("history.json"), place.lock)
            facts = {} if past is None else parse(past)
            revision = row.revision
            if facts:
                add_history(row, facts)
            check_row(row, place.name)
            s3 = _read_etags(facts)
        except Unreadable:
            return None, True
        if self._strict and s3 and revision != facts.get("revision", 0):
            return None, False
        sight = Sight(row, s3.get("task"), s3.get("lease"), s3.get("change", 0))
        sight.raised = s3.get("raised", 0)
        lease = None if lease_text is None else Lease.read(lease_text)
        if self._strict and not s3.get("leased"):
            ahead = 0 if lease is None else _ahead(lease_text or b"", sight)
            if ahead != 1:
                return (sight, True) if ahead < 1 else (None, False)
        elif self._strict and (lease is None or lease.nonce != _nonce(sight.hold)):
            return None, False
        if lease is not None and lease.fence > row.fence:
            add_lease(row, lease)
            row.asked = read_ask(self._store, place, lease.fence)
            sight.turn = lease.turn
        return sight, True

    def mirrors(self, place: Held) -> bool:
        """Whether a locked folder shows a job of the bucket, be it torn; people's do not."""
        past = self._store.disk.read("history.json", place.lock)
        try:
            return past is not None and bool(_read_etags(parse(past)))
        except Unreadable:
            return False

    def indexed(self, sight: Sight) -> bool:
        """Whether a leased job is found by those who look for leases."""
        return self._store.disk.exists(self._index(sight.row, name_of(sight.row.id)))

    def drop(self, place: Held, seen: Sight | None) -> None:
        """Take a locked folder away, with everything that leads to it."""
        self._store.disk.set_hinted(place.lock, False)
        remove_job(self._store, place)
        # Last: by these names those who count find that the folder is only a rest.
        mark_paused(self._store, place, False)
        self._unindex(place, seen)

    def forget(self, queue: str, name: str) -> None:
        """Take away whatever is known of a name."""
        folders = self._store.folders(queue)
        for state in ENDS:
            self._store.disk.unlink(folders.record(state, name))
        with held(self._store, folders, name) as place:
            seen = None if place is None else self.read(place)
            if place is not None and self._strict and seen is not None and seen.by_people:
                reason = f"the job {seen.row.id!r} was pushed before this file was taken in"
                self._node.desk.adoption.set_aside(place, reason)
            elif place is not None:
                self.drop(place, seen)

    # -- parts

    def _end(self, folders: Folders, name: str, sight: Sight) -> None:
        """Keep the record of a job that is over; without one where it was deleted."""
        row, disk = sight.row, self._store.disk
        known = record_of(self._store, folders, name)
        if known is not None and known.generation > row.generation:
            return
        if not sight.gone:
            content = record_text(row, handed_off=not row.children)
            self._store.put_hint(folders.record(row.state, name), content)
        for state in ENDS:
            if sight.gone or state is not row.state:
                disk.unlink(folders.record(state, name))

    def _over(self, folders: Folders, name: str, row: Row) -> bool:
        """Whether a record wins over this row; an older one makes way for it."""
        if not self._store.ended(folders, name):
            return False
        record = record_of(self._store, folders, name)
        if record is not None and record.generation >= row.generation:
            return True
        for state in ENDS:
            self._store.disk.unlink(folders.record(state, name))
        return False

    def _enter(self, folders: Folders, name: str, sight: Sight) -> bool:
        """Make the folder of a job that is new here; False if somebody else just did."""
        if self._over(folders, name, sight.row):
            return True
        store, disk = self._store, self._store.disk
        tmp = f"{store.layout.tmp}/{store.nonce()}"
        disk.make_folder(tmp)
        lock = disk.lock(tmp)
        if lock is None:
            return False
        try:
            disk.create("task.json", task_text(sight.row), sync=False, at=lock)
            disk.create("history.json", _history(sight), sync=False, at=lock)
            if not disk.move_folder(tmp, folders.job(name)):
                disk.unlink("task.json", lock)
                disk.unlink("history.json", lock)
                disk.remove_folder(tmp)
                return False
            place = Held(folders, name, lock)
            self._lead(place, None, sight)
            return True
        finally:
            disk.unlock(lock)

    def _rewrite(self, place: Held, seen: Sight | None, sight: Sight) -> None:
        store, row = self._store, sight.row
        if seen is None or seen.task != sight.task or seen.row.revision != row.revision:
            store.put_in(place, "task.json", task_text(row), sync=False)
        # What leads to it first: whoever follows too early finds the lock held, and comes again.
        self._lead(place, seen, sight)
        store.put_in(place, "history.json", _history(sight), sync=False)
        if row.state is not State.PROCESSING:
            store.disk.unlink("lease.json", place.lock)
            store.disk.unlink("ask.json", place.lock)
        if row.state is not State.PROCESSING or (seen is not None and seen.row.fence != row.fence):
            self._unindex(place, seen)

    def _unindex(self, place: Held, seen: Sight | None) -> None:
        if seen is not None and seen.row.state is State.PROCESSING:
            self._store.disk.unlink(self._index(seen.row, place.name))

    def _lead(self, place: Held, seen: Sight | None, sight: Sight) -> None:
        """Write whatever leads to the job: its lease, its mark as paused, its place in line."""
        store, row = self._store, sight.row
        if row.state is State.PROCESSING:
            self._lease(place, sight)
        was_paused = seen is not None and seen.row.state is State.PAUSED
        if was_paused or row.state is State.PAUSED:
            mark_paused(store, place, row.state is State.PAUSED)
        if row.state is not State.PROCESSING:
            announce(store, place.folders, row, store.now())
        store.disk.set_hinted(place.lock, True)

    def _lease(self, place: Held, sight: Sight) -> None:
        store, row = self._store, sight.row
        lease = Lease(
            row.worker or _NOBODY,
            row.started_at or row.heartbeat_at or 0.0,
            fence=row.fence,
            attempts=row.attempts,
            turn=sight.turn,
            nonce=_nonce(sight.hold),
        )
        lease.heartbeat_at = row.heartbeat_at or 0.0
        lease.expires_at = row.expires_at or 0.0
        lease.percent, lease.note = row.percent, row.note
        if row.asked is not None:
            facts = {"asked": row.asked, "fence": row.fence, "at": moment_text(store.now())}
            content = json.dumps(facts, indent=2).encode() + b"\n"
            store.put_in(place, "ask.json", content, sync=False)
        content = _with_etags(lease.text(), _etags(sight))
        index = self._index(row, place.name)
        if not store.disk.exists(index):
            self._node.desk.index.create(index, content)
            if store.disk.link(index, "lease.json", at=place.lock):
                return
        store.put_in(place, "lease.json", content, sync=False)

    def _index(self, row: Row, name: str) -> str:
        # One name for one claim, so that it is found again without looking.
        return self._node.desk.index.path(row.worker or _NOBODY, row.queue, name, row.fence, "s3")


def _nonce(etag: str | None) -> str:
    """The etag in `lease.json`: it says to which version of the hold the lease belongs."""
    return (etag or "").strip('"')


def _later(seen: Sight, sight: Sight) -> bool:
    """Whether what the local tree shows came after what was just seen."""
    if seen.task == sight.task:
        return seen.change > sight.change
    return seen.task is not None and seen.row.generation > sight.row.generation


def _history(sight: Sight) -> bytes:
    """`history.json`, of a leased job as it was before the claim, which its lease tells."""
    row = sight.row
    leased = row.state is State.PROCESSING
    if leased:
        row = sight.fork()
        row.fence, row.attempts, row.state = row.fence - 1, row.attempts - 1, State.PENDING
    s3 = _etags(sight) | {"leased": leased}
    if sight.raised:
        s3["raised"] = sight.raised
    return _with_etags(history_text(row), s3)


def _ahead(lease: bytes, sight: Sight) -> int:
    """By how many versions a lease is newer than the history beside it, which then becomes part of
    the sight; 1 is a claim. 0 or less: it is over.
    """
    try:
        s3 = _read_etags(parse(lease))
    except Unreadable:
        return 0
    if not s3 or s3.get("task") != sight.task:
        return 0
    ahead: int = s3["change"] - sight.change
    if ahead == 1:
        sight.hold, sight.change = s3.get("lease"), s3["change"]
    return ahead


def _read_etags(facts: Mapping[str, Any]) -> dict[str, Any]:
    """What `_etags` wrote; empty where there is none."""
    s3 = facts.get("s3")
    if s3 is None:
        return {}
    if isinstance(s3, dict) and all(isinstance(s3.get(n), kind) for n, kind in _ETAGS.items()):
        return s3
    raise Unreadable("its field s3 is not what we write")


def _etags(sight: Sight) -> dict[str, Any]:
    return {"task": sight.task, "lease": sight.hold, "change": sight.change}


def _with_etags(text: bytes, s3: Mapping[str, Any]) -> bytes:
    return b'%s,\n  "s3": %s\n}\n' % (text.removesuffix(b"\n}\n"), json.dumps(s3).encode())
