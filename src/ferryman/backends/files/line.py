"""The jobs of one queue that may be next, read from its hints and never from the folder itself."""

from __future__ import annotations

import contextlib
import heapq
import json
import random
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from ferryman.backends.files.hints import parse_bucket

if TYPE_CHECKING:
    from collections.abc import Collection

    from ferryman.backends.files.store import Store

CHUNK: Final = 65_536
GRAIN: Final = 0.1
"""Seconds within which a folder may change twice under one time stamp."""


class Log:
    """One log and how far this process has read it.

    `open` counts the lines read whose job may still need them: a log with such lines stays, so that
    another process finds them if this one dies.
    """

    __slots__ = ("end", "inode", "name", "offset", "open", "path", "priority", "start")

    def __init__(self, path: str, name: str, priority: int, start: int, end: int) -> None:
        self.path = path
        self.name = name
        self.priority = priority
        self.start = start
        self.end = end
        self.inode = 0
        self.offset = 0
        self.open = 0


class Candidate:
    """A hint: a job that may be claimable from `ready_at` on."""

    __slots__ = ("id", "log", "ready_at", "seq", "task")

    def __init__(self, ready_at: float, seq: int, task: str, job_id: str, log: Log) -> None:
        self.ready_at = ready_at
        self.seq = seq
        self.task = task
        self.id = job_id
        self.log = log

    def __lt__(self, other: Candidate) -> bool:
        return (self.ready_at, self.seq) < (other.ready_at, other.seq)


class Lane:
    """The candidates of one priority."""

    __slots__ = ("later", "logs", "looked", "parked", "window")

    def __init__(self) -> None:
        self.looked = False
        self.logs: list[Log] = []
        self.window: deque[Candidate] = deque()
        self.later: list[Candidate] = []
        self.parked: dict[str, deque[Candidate]] = {}

    def first(self, now: float, skip: Collection[str]) -> Candidate | None:
        """Take the next candidate that is due; those of tasks to skip are parked."""
        while True:
            later, window = self.later, self.window
            if later and later[0].ready_at <= now and (not window or later[0] < window[0]):
                found = heapq.heappop(later)
            elif window:
                found = window.popleft()
            else:
                return None
            if found.ready_at > now:
                heapq.heappush(later, found)
            elif skip and found.task in skip:
                self.parked.setdefault(found.task, deque()).append(found)
            else:
                return found

    def unpark(self, skip: Collection[str]) -> None:
        for task in [task for task in self.parked if task not in skip]:
            self.window = deque(sorted([*self.parked.pop(task), *self.window]))


class Line:
    """Reads a folder of logs step by step, the highest priority first. Thread-safe.

    `lost`: the folder is gone, or the file `mark` in it, so that hints may be missing.
    """

    def __init__(self, store: Store, folder: str, mark: str | None = None) -> None:
        self._store = store
        self._folder = folder
        self._mark = mark
        self.lost = False
        self._lanes: dict[int, Lane] = {}
        self._order: list[int] = []
        self._logs: dict[str, Log] = {}
        self._seen = -1.0
        self._busy: list[Candidate] = []
        self.lock = threading.Lock()

    def start(self, skip: Collection[str] = ()) -> None:
        """Before a verb takes candidates: notice new logs, and try again what was busy."""
        with self.lock:
            self._list()
            for candidate in self._busy:
                self._lanes[candidate.log.priority].window.appendleft(candidate)
            self._busy.clear()
            for lane in self._lanes.values():
                lane.looked = False
                if lane.parked:
                    lane.unpark(skip)

    def take(self, now: float, skip: Collection[str] = ()) -> Candidate | None:
        """The next candidate that is due; the caller says what became of it."""
        with self.lock:
            for priority in self._order:
                lane = self._lanes[priority]
                if lane.later and not lane.window and not lane.looked:
                    # What came since may be due before what was put off.
                    lane.looked = True
                    self._fill(lane, now)
                while True:
                    found = lane.first(now, skip)
                    if found is not None:
                        return found
                    if not self._fill(lane, now):
                        break
            return None

    def done(self, candidate: Candidate) -> None:
        """The hint served: its job is claimed, gone, or has a newer hint."""
        candidate.log.open -= 1

    def busy(self, candidate: Candidate) -> None:
        """Somebody holds the job's lock: look at it again with the next verb."""
        with self.lock:
            self._busy.append(candidate)

    def later(self, candidate: Candidate, ready_at: float) -> None:
        """The job is due later than its hint says."""
        with self.lock:
            candidate.ready_at = ready_at
            heapq.heappush(self._lanes[candidate.log.priority].later, candidate)

    def back(self, candidate: Candidate) -> None:
        """It was only looked at."""
        with self.lock:
            self._lanes[candidate.log.priority].window.appendleft(candidate)

    def scatter(self) -> None:
        """Others take from the same end: go on at random places of the window."""
        with self.lock:
            for lane in self._lanes.values():
                random.shuffle(lane.window)

    def next_due(self, now: float) -> float | None:
        """When the next candidate that was read, or the next log, is due; None: nothing known."""
        with self.lock:
            moments = [lane.later[0].ready_at for lane in self._lanes.values() if lane.later]
            moments += [log.start for log in self._logs.values() if log.start > now]
        return min(moments, default=None)

    def _list(self) -> None:
        disk = self._store.disk
        found = disk.look(self._folder)
        if found is None:
            self._seen = -1.0
            self.lost = True
            return
        if found.changed_at == self._seen:
            return
        names = disk.names(self._folder) or ()
        self.lost = self._mark is not None and self._mark not in names
        for name in names:
            if name not in self._logs and (facts := parse_bucket(name)) is not None:
                self._add(Log(f"{self._folder}/{name}", name, *facts))
        # Within the grain of its stamps a folder can change unnoticed: list it again next time.
        young = self._store.file_clock.now() - found.changed_at < GRAIN
        self._seen = -1.0 if young else found.changed_at

    def _add(self, log: Log) -> None:
        self._logs[log.name] = log
        if log.priority not in self._lanes:
            self._lanes[log.priority] = Lane()
            self._order = sorted(self._lanes, reverse=True)
        logs = self._lanes[log.priority].logs
        logs.append(log)
        logs.sort(key=lambda each: each.start)

    def _fill(self, lane: Lane, now: float) -> bool:
        """Read on in the lane's logs; False if they have nothing new."""
        for log in list(lane.logs):
            if log.start > now:
                return False
            found = self._store.disk.look(log.path)
            if found is None or not found.file:
                self._remove(lane, log)
                continue
            # A log that was dropped and made again may have got its old inode.
            if found.inode != log.inode or found.size < log.offset:
                log.inode, log.offset = found.inode, 0
            if found.size > log.offset and self._read(lane, log):
                return True
            if log.end < now and not log.open and self._store.disk.drop(log.path, log.offset):
                self._remove(lane, log)
        return False

    def _remove(self, lane: Lane, log: Log) -> None:
        lane.logs.remove(log)
        del self._logs[log.name]

    def _read(self, lane: Lane, log: Log) -> bool:
        chunk = self._store.disk.read_from(log.path, log.offset, CHUNK) or b""
        whole = chunk[: chunk.rfind(b"\n") + 1]
        if not whole and len(chunk) == CHUNK:
            whole = chunk  # no line is that long: skip what is not ours
        log.offset += len(whole)
        found = [Candidate(at, seq, task, job_id, log) for at, seq, task, job_id in facts_of(whole)]
        log.open += len(found)
        found.sort()
        lane.window.extend(found)
        return bool(whole)


_KINDS: Final = frozenset({(float, int, str, str), (int, int, str, str)})


def facts_of(chunk: bytes) -> list[Any]:
    """The hints in a piece of a log; lines that are none are passed over."""
    lines = [line for line in chunk.split(b"\n") if line]
    try:
        # One call for all lines is several times quicker.
        facts = json.loads(b"[" + b",".join(lines) + b"]")
        if all(map(_fits, facts)):
            return facts  # type: ignore[no-any-return]
    except (ValueError, RecursionError):
        pass
    return [facts for line in lines if (facts := _one(line)) is not None]


def _one(line: bytes) -> Any:
    with contextlib.suppress(ValueError, RecursionError):
        facts = json.loads(line)
        if _fits(facts):
            return facts
    return None


def _fits(facts: Any) -> bool:
    return type(facts) is list and tuple(map(type, facts)) in _KINDS
