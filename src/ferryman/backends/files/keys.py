"""Which jobs of a queue carry a key."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, Self

from ferryman.backends.files.document import Unreadable, parse
from ferryman.backends.files.names import name_of
from ferryman.backends.files.reading import find_in
from ferryman.errors import BackendRejected
from ferryman.job import TERMINAL, WAITING

if TYPE_CHECKING:
    from ferryman.backends.files.layout import Folders
    from ferryman.backends.files.row import Row
    from ferryman.backends.files.store import Store
    from ferryman.message import Unique

FINISHED_KEPT: Final = 20
"""Finished jobs that are remembered for a key, the newest; `unique` in seconds asks for them."""


class Key:
    """One key, locked while the block runs: two pushes with one key come one after the other.

    `key.json` lists ids that used it. An id is written there before its job appears, so ids without
    a job are ignored, and no job with a key is missing; those that people drop are written there
    when they are taken in. Without `wait` a key that somebody else holds is a `BlockingIOError`.
    """

    def __init__(self, store: Store, folders: Folders, key: str, *, wait: bool = True) -> None:
        self._store = store
        self._folders = folders
        self._key = key
        self._folder = f"{folders.keys}/{name_of(key)}"
        self._wait = wait
        self._lock = -1

    def __enter__(self) -> Self:
        disk = self._store.disk
        take = disk.lock if self._wait else disk.try_lock
        lock = take(self._folder)
        while lock is None:
            if disk.make_folder(self._folder):
                disk.sync_folder(self._folders.keys)
            lock = take(self._folder)
        self._lock = lock
        return self

    def __exit__(self, *_: object) -> None:
        self._store.disk.unlock(self._lock)

    def holder(self, unique: Unique, now: float) -> Row | None:
        """The newest job that stands in the way of another one with this key."""
        rows = self._rows()
        if isinstance(unique, int | float):
            newest = rows[-1] if rows else None
            return newest if newest is not None and newest.created_at > now - unique else None
        for row in reversed(rows):
            if row.state in TERMINAL:
                continue
            if unique == "unfinished" or row.state in WAITING:
                return row
        return None

    def rival(self, job_id: str) -> Row | None:
        """An unfinished job other than this one that has the key."""
        others = (row for row in self._rows() if row.id != job_id and row.state not in TERMINAL)
        return next(others, None)

    def lists(self, job_id: str) -> bool:
        """Whether the job was written down as one that uses the key."""
        return job_id in self._ids()

    def add(self, job_id: str) -> None:
        """Write down, durably, that a job is about to use the key."""
        rows = self._rows()
        finished = [row.id for row in rows if row.state in TERMINAL]
        forgotten = set(finished[:-FINISHED_KEPT])
        ids = [row.id for row in rows if row.id not in forgotten and row.id != job_id]
        facts = {"key": self._key, "jobs": [*ids, job_id]}
        content = json.dumps(facts, ensure_ascii=False, indent=2).encode() + b"\n"
        self._store.put_at(self._lock, self._folder, "key.json", content, sync=True)

    def _rows(self) -> list[Row]:
        """The jobs that have the key now, by their time."""
        found = (find_in(self._store, self._folders, name_of(job_id)) for job_id in self._ids())
        rows = [row for row in found if row is not None and row.key == self._key]
        return sorted(rows, key=lambda row: (row.created_at, row.seq, row.id))

    def _ids(self) -> list[str]:
        content = self._store.disk.read("key.json", self._lock)
        if content is None:
            return []
        try:
            facts = parse(content)
            ids, key = list(facts["jobs"]), facts["key"]
        except (Unreadable, KeyError, TypeError) as error:
            raise BackendRejected(
                f"{self._folder}/key.json cannot be read ({error}): repair or remove it"
            ) from None
        if key != self._key:
            raise BackendRejected(
                f"the key {self._key!r} has the file name of key {key!r}: choose another key"
            )
        return ids
