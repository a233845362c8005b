"""wait: a worker sleeps until there is something to claim, whoever pushed it."""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING, Final

from ferryman.backends.bell import Bell, Ear
from ferryman.backends.files.names import name_of
from ferryman.backends.files.reading import find_in
from ferryman.backends.inotify import CREATED, MODIFIED, MOVED_IN, Eye
from ferryman.job import State

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ferryman.backends.bell import Listener
    from ferryman.backends.files.desk import Desk
    from ferryman.backends.files.row import Row

BLIND: Final = 0.05
"""Seconds between two looks where the system cannot say that a file has changed."""
SEEING: Final = 0.5
"""With an eye the looks are only a net below it."""
AGAIN: Final = 0.001
"""After news a job may need a moment until its lock is free."""


class Watch:
    """Wakes by a bell for this process's writes, and by an eye on the hints for those of others."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._bell = Bell()
        self._wakes = 0
        self._eyes: dict[tuple[str, ...], list[Eye]] = {}
        self._closed = False

    def ring(self) -> None:
        """Tell this process's waiting threads that there may be something new."""
        self._bell.ring()

    def wake(self) -> None:
        """End every `wait` that is under way in this process."""
        self._wakes += 1
        self._bell.ring()

    def wait(self, queues: Collection[str], timeout: float) -> bool:
        """Whether one of the queues may have a job to claim within `timeout` seconds."""
        until = time.monotonic() + timeout
        wakes = self._wakes
        with self._eye(queues) as eye:
            listener: Listener = Ear() if eye is None else eye
            with self._bell.heard_by(listener):
                pause = AGAIN
                longest = BLIND if eye is None else SEEING
                while True:
                    found, due = self._look(queues)
                    if found:
                        return True
                    left = until - time.monotonic()
                    if left <= 0 or self._wakes != wakes or self._closed:
                        return False
                    happened = listener.sleep(min(left, pause, due))
                    pause = AGAIN if happened else min(pause * 2, longest)

    def close(self) -> None:
        """Free the eyes that nobody uses, and end the waits."""
        self._closed = True
        self.wake()
        for eyes in self._eyes.values():
            while eyes:
                eyes.pop().close()

    def _look(self, queues: Collection[str]) -> tuple[bool, float]:
        """Whether there is something to claim, and else the seconds until something is due."""
        due = SEEING
        for queue in queues:
            line = self._desk.line(queue)
            if line is None:
                due = min(due, BLIND)  # there is no folder to watch yet
                continue
            folders = self._desk.store.folders(queue)
            if self._desk.store.disk.exists(folders.paused):
                continue
            if self._claimable(queue) or (self._desk.sweep(queue) and self._claimable(queue)):
                return True, 0.0
            now = self._desk.store.now()
            ahead = line.next_due(now)
            if ahead is not None:
                due = min(due, max(AGAIN, ahead - now))
        return False, due

    def _claimable(self, queue: str) -> bool:
        """Whether the next candidate is a job that waits; stale hints are dropped on the way."""
        line, store = self._desk.line(queue), self._desk.store
        if line is None:
            return False
        line.start()
        now = store.now()
        while (candidate := line.take(now)) is not None:
            row = find_in(store, store.folders(queue), name_of(candidate.id))
            if row is not None and row.state is not State.PENDING and not row.state.terminal:
                row = self._locked(queue, candidate.id)
                if row is None:
                    line.busy(candidate)
                    continue
            if row is None or row.state is not State.PENDING or _is_late(row, now):
                line.done(candidate)
            elif row.ready_at > now:
                line.later(candidate, row.ready_at)
            else:
                line.back(candidate)
                return True
        return False

    def _locked(self, queue: str, job_id: str) -> Row | None:
        """The job under its lock: a hint is written before the change that it announces."""
        store, name = self._desk.store, name_of(job_id)
        folders = store.folders(queue)
        try:
            lock = store.disk.try_lock(folders.job(name))
        except BlockingIOError:
            return None
        try:
            return find_in(store, folders, name)
        finally:
            if lock is not None:
                store.disk.unlock(lock)

    @contextlib.contextmanager
    def _eye(self, queues: Collection[str]) -> Iterator[Eye | None]:
        """An eye for one wait; they are kept, because to make one takes several system calls.

        Kept by what they watch: a queue that has been made since needs an eye on its own folders.
        """
        watches = self._watches(queues)
        kept = self._eyes.setdefault(tuple(watches), [])
        try:
            eye: Eye | None = kept.pop()
        except IndexError:
            eye = None
        if eye is None or eye.pid != os.getpid():  # a parent's events are its own
            eye = Eye.on(watches)
        try:
            yield eye
        finally:
            if eye is not None:
                kept.append(eye)
                if self._closed:
                    self.close()

    def _watches(self, queues: Collection[str]) -> dict[str, int]:
        store = self._desk.store
        watches: dict[str, int] = {}
        for queue in queues:
            folders = store.folders(queue)
            if store.disk.exists(folders.ready):
                watches[folders.ready] = CREATED | MODIFIED | MOVED_IN
                watches[folders.pending] = CREATED | MOVED_IN
                watches[folders.root] = CREATED | MOVED_IN
            else:
                watches[store.layout.root] = CREATED | MOVED_IN
        return watches


def _is_late(row: Row, now: float) -> bool:
    return row.deadline is not None and row.deadline <= now
