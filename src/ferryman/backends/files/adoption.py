"""Taking in jobs without hints: dropped by hand, edited, moved back, or left by a killed push."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ferryman.backends.files.document import (
    Unreadable,
    add_history,
    history_text,
    parse,
    row_of_file,
)
from ferryman.backends.files.finish import finish_if_ended
from ferryman.backends.files.hints import announce
from ferryman.backends.files.names import LONGEST, name_of, text_of
from ferryman.backends.files.place import Held, held
from ferryman.backends.files.quarantine import set_aside, young
from ferryman.backends.files.reading import read_job
from ferryman.backends.files.removal import FILES, forget_job, mark_paused
from ferryman.backends.files.rivals import is_second, takes_key
from ferryman.backends.files.withdrawal import take_back, withdraw
from ferryman.job import TERMINAL, State

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferryman.backends.files.desk import Desk
    from ferryman.backends.files.layout import Folders
    from ferryman.backends.files.row import Row

UNFIT: Final = f"its name cannot be a job's id: use UTF-8, and at most {LONGEST} bytes"
ABANDONED: Final = 60.0
"""Seconds after which a folder without a task is nobody's work in progress."""
_COMPLETE: Final = frozenset({"id", "created_at", "ready_at", "seq"})


class Adoption:
    """Judges a job's folder that has no mark; everything happens under the job's lock."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._store = desk.store

    def adopt(self, place: Held) -> bool:
        """Whether the folder holds a job; then it has its hints and its mark."""
        with self._store.baton.let_go():
            return self._adopt(place)

    def _adopt(self, place: Held) -> bool:
        try:
            returned = take_back(self._store, place)
            row = self._read(place)
        except Unreadable as error:
            self.set_aside(place, str(error))
            return False
        if row is None:
            self._clear(place)
            return False
        if finish_if_ended(self._store, place, row) or is_second(self._store, place, row):
            return False
        if (returned or not row.own_facts) and not takes_key(self._store, place, row):
            return False
        if not row.own_facts and row.seq == 0:
            self._write_down(place, row)
        self.restore_hints(place, row)
        return True

    def restore_hints(self, place: Held, row: Row) -> None:
        """Write whatever leads to a job: its place in line, its mark as paused, or its lease's."""
        leased = read_job(self._store, place)
        if leased is not None and leased.state is State.PROCESSING and leased.worker is not None:
            content = self._store.disk.read("lease.json", place.lock) or b""
            nonce = self._store.nonce()
            path = self._desk.index.path(leased.worker, row.queue, place.name, leased.fence, nonce)
            self._desk.index.create(path, content)
        else:
            mark_paused(self._store, place, row.state is State.PAUSED)
            announce(self._store, place.folders, row, self._store.now())
        self._store.disk.set_hinted(place.lock, True)

    def take_file(self, folders: Folders, file: str) -> bool:
        """Make a job of `pending/<name>.json`: a folder is made and the file moved into it."""
        path, stem = f"{folders.pending}/{file}", file.removesuffix(".json")
        if young(self._store, path) and not _whole(self._store.disk.read(path)):
            return False
        if not file.endswith(".json") or not stem:
            set_aside(self._store, folders, path, file, "it is no task.json and no folder of one")
            return False
        name = _proper(stem)
        if name is None:
            set_aside(self._store, folders, path, stem, UNFIT)
            return False
        if not self._store.disk.exists(path):
            set_aside(self._store, folders, path, stem, "it is a link that leads nowhere")
            return False
        self._store.disk.make_folder(folders.job(name))
        with held(self._store, folders, name) as place:
            if place is None:
                return False
            if self._store.disk.exists("task.json", place.lock):
                set_aside(self._store, folders, path, name, f"the job {stem!r} waits already")
                return False
            return self._move_in(place, path) and self.adopt(place)

    def take_folder(self, place: Held) -> bool:
        """Take in a folder that somebody named as we would not: the job is sought by our name."""
        name = _proper(place.name)
        if name is None:
            self.set_aside(place, UNFIT)
            return False
        if not self._store.disk.move_folder(place.path, place.folders.job(name)):
            self.set_aside(place, f"the job {text_of(name)!r} waits already")
            return False
        return self.adopt(Held(place.folders, name, place.lock))

    def set_aside(self, place: Held, reason: str) -> bool:
        """Move an unreadable task out of its folder; False while it may still be written."""
        if young(self._store, f"{place.path}/task.json"):
            return False
        withdraw(self._store, place, reason)
        return True

    def _move_in(self, place: Held, path: str) -> bool:
        """Make a file the job's task. A link is read, because moved it could lead elsewhere."""
        disk = self._store.disk
        seen, content = disk.look(path), disk.read(path)
        try:
            if content is None or (seen is not None and seen.file):
                disk.rename(path, "task.json", at=place.lock)
            else:
                self._store.put_in(place, "task.json", content, sync=True)
                disk.unlink(path)
        except FileNotFoundError:
            if disk.exists(path):
                raise
            # Another process has taken it in, and the job is over already.
            disk.remove_folder(place.path)
            return False
        return True

    def _read(self, place: Held) -> Row | None:
        """The job; what people left out is filled in, and its seq is 0 until it is written down."""
        store, name = self._store, place.name
        content = store.disk.read("task.json", place.lock)
        if content is None:
            return None
        facts = parse(content)
        row = row_of_file(facts, place.folders.queue, text_of(name))
        named = name_of(row.id) == name
        if not named:
            row = row_of_file(facts | {"id": text_of(name)}, place.folders.queue, text_of(name))
        past = self._history(place)
        if past is not None:
            add_history(row, past)
            return row
        if named and facts.keys() >= _COMPLETE and row.state not in TERMINAL:
            return row
        now = store.now()
        if row.state in TERMINAL:
            row.renew(now)
        row.seq = 0
        row.own_facts = False
        row.created_at = row.created_at or now
        row.ready_at = row.ready_at if "ready_at" in facts else now
        return row

    def _history(self, place: Held) -> Mapping[str, Any] | None:
        """What happened to the job; the history of another one was copied along with its task."""
        content = self._store.disk.read("history.json", place.lock)
        past = None if content is None else parse(content)
        told = None if past is None else past.get("id")
        return None if isinstance(told, str) and name_of(told) != place.name else past

    def _write_down(self, place: Held, row: Row) -> None:
        row.seq = self._store.next_seq(self._store.now())
        row.own_facts = True
        self._store.put_in(place, "history.json", history_text(row), sync=True)

    def _clear(self, place: Held) -> None:
        """A folder without a task: the rest of a removed job, unless somebody just makes it."""
        store = self._store
        found = store.disk.look(place.path)
        if found is None:
            return
        if not found.hinted and store.file_clock.now() - found.changed_at <= ABANDONED:
            return
        strangers = set(store.disk.names(place.path, place.lock) or ()) - set(FILES)
        if store.disk.look("task.json", place.lock) is not None:
            withdraw(store, place, "its task.json is no file, and no link to one")
        elif strangers and not store.ended(place.folders, place.name):
            reason = "there is no task.json in it"
            set_aside(store, place.folders, place.path, place.name, reason)
        else:
            forget_job(store, place)


def _proper(given: str) -> str | None:
    """The name by which a job is sought that somebody called so; None if it cannot have one."""
    try:
        name = name_of(text_of(given))
    except UnicodeError:
        return None
    return name if text_of(name) == text_of(given) else None


def _whole(content: bytes | None) -> bool:
    try:
        parse(content or b"")
    except Unreadable:
        return False
    return True
