"""The limit of a file system: the system calls and fsyncs of our file backend, and nothing else.

What is written are constant bytes of our files' lengths; what is read is not looked at. A test
compares the calls of both, so this loop follows when the backend needs fewer.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import time
from typing import TYPE_CHECKING, Any, Final, cast

from bench.contender import BATCH, QUEUE, Cycling

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from threading import Event

    from bench.contender import Handler, Payload

POLL_EVERY: Final = 0.002
TOGETHER: Final = 200
"""Jobs that are pushed or finished in one go."""
WORTH_IT: Final = 32
"""Files from which on one sync of the whole file system takes the place of one for each."""

_FOLDERS: Final = (
    "pending",
    "completed",
    "failed",
    "cancelled",
    "ready",
    "leases",
    "drafts",
    "hold",
)
_ENDS: Final = ("completed", "failed", "cancelled")
_LOG: Final = "0.1794700800m"
_NAME: Final = 36
_HINT: Final = b'\n[1794700800.123456,1794700800123456,"noop","%s"]\n'
_TASK: Final = b"." * 398
_RECORD: Final = b"." * 653
_LEASE: Final = b"." * 360
_AT: Final = 18
_CHUNK: Final = 65_536

_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_APPEND: Final = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_READ: Final = os.O_RDONLY | os.O_CLOEXEC
_AT_REST: Final = 0o1755
_MOVING: Final = 0o755
_SYNCFS: Final[Any] = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)


class RawFile(Cycling):
    """A folder for each job, a lease linked into it, a record at its end; all of it synced."""

    def __init__(self, folder: Path, handle: Handler) -> None:
        super().__init__(folder, handle)
        # As deep as the folders of a queue of ours: names take the kernel as long to find.
        self._root = f"{folder}/raw/{QUEUE}"
        for name in ("", *_FOLDERS):
            os.makedirs(f"{self._root}/{name}", exist_ok=True)  # noqa: PTH103
        self._who = f"{os.getpid():x}-0123456789"
        self._number = 0
        self._offset = 0
        self._log = os.open(f"{self._root}/ready/{_LOG}", _APPEND)

    def push(self, payload: Payload) -> None:
        self._push([payload])

    def push_many(self, payloads: Sequence[Payload]) -> None:
        for start in range(0, len(payloads), TOGETHER):
            self._push(payloads[start : start + TOGETHER])

    def prepare(self, payloads: Sequence[Payload]) -> Sequence[object]:
        return payloads

    def cycle(self, prepared: Sequence[object]) -> int:
        self.push_many(cast("Sequence[Payload]", prepared))
        claimed = self.claim(len(prepared))
        self.finish([name for name, _ in claimed])
        return len(claimed)

    def unfinished(self) -> int:
        return len(os.listdir(f"{self._root}/pending"))  # noqa: PTH208

    def work(self, stop: Event) -> None:
        while not stop.is_set():
            claimed = self.claim(BATCH)
            if not claimed:
                time.sleep(POLL_EVERY)
                continue
            for _, at in claimed:
                self.handle({"t": at})
            self.finish([name for name, _ in claimed])

    def close(self) -> None:
        os.close(self._log)

    def _push(self, payloads: Sequence[Payload]) -> None:
        root, each = self._root, not _together(len(payloads))
        drafts = []
        for payload in payloads:
            self._number += 1
            name = f"{self._who}-{self._number:0{_NAME - len(self._who) - 1}d}"
            _is_absent(f"{root}/pending/{name}")
            self._has_not_ended(name)
            drafts.append((self._draft(name, payload, sync=each), name))
        if not each:
            _sync_all(f"{root}/drafts")
        for _, name in drafts:
            os.rename(f"{root}/drafts/{name}", f"{root}/pending/{name}")  # noqa: PTH104
        _sync_folder(f"{root}/pending")
        os.stat(root, follow_symlinks=False)  # noqa: PTH116
        for _, name in drafts:
            self._has_not_ended(name)
        self._announce(b"".join(_HINT % name.encode() for _, name in drafts))
        for lock, _ in drafts:
            os.fchmod(lock, _AT_REST)
        for lock, _ in drafts:
            os.close(lock)

    def _draft(self, name: str, payload: Payload, *, sync: bool) -> int:
        tmp = f"{self._root}/drafts/{name}"
        os.mkdir(tmp)  # noqa: PTH102
        lock = os.open(tmp, _FOLDER)
        fcntl.flock(lock, fcntl.LOCK_EX)
        task = os.open("task.json", _CREATE, 0o666, dir_fd=lock)
        os.write(task, b"%s%*.6f" % (_TASK, _AT, payload["t"]))
        if sync:
            os.fsync(task)
        os.close(task)
        if sync:
            os.fsync(lock)
        return lock

    def _has_not_ended(self, name: str) -> None:
        for end in _ENDS:
            _is_absent(f"{self._root}/{end}/{name}.json")

    def _announce(self, hints: bytes) -> None:
        fcntl.flock(self._log, fcntl.LOCK_SH)
        os.fstat(self._log)
        os.write(self._log, hints)
        fcntl.flock(self._log, fcntl.LOCK_UN)

    def claim(self, limit: int) -> list[tuple[str, float]]:
        """Lease the next jobs: their names and the moments of their pushes."""
        root = self._root
        hold = os.open(f"{root}/hold", _FOLDER)
        fcntl.flock(hold, fcntl.LOCK_SH)
        _is_absent(f"{root}/paused.json")
        os.stat(f"{root}/ready", follow_symlinks=False)  # noqa: PTH116
        claimed = []
        for name in self._next(limit):
            at = self._lease(name)
            if at is not None:
                claimed.append((name, at))
        os.close(hold)
        return claimed

    def _next(self, limit: int) -> Iterator[str]:
        size = len(_HINT) - 2 + _NAME
        path = f"{self._root}/ready/{_LOG}"
        os.stat(path, follow_symlinks=False)  # noqa: PTH116
        log = os.open(path, _READ)
        chunk = os.pread(log, min(_CHUNK, limit * size), self._offset)
        os.close(log)
        self._offset += len(chunk)
        for end in range(size, len(chunk) + 1, size):
            yield chunk[end - _NAME - 3 : end - 3].decode()

    def _lease(self, name: str) -> float | None:
        """Claim one job; None if another worker was quicker."""
        try:
            lock = os.open(f"{self._root}/pending/{name}", _FOLDER)
        except FileNotFoundError:
            return None
        try:
            # A pusher that has just announced its job may still hold it for a moment.
            fcntl.flock(lock, fcntl.LOCK_EX)
            os.fstat(lock)
            task = _read("task.json", lock)
            _read("history.json", lock)
            if task is None or _read("lease.json", lock) is not None:
                return None
            index = f"{self._root}/leases/{name}"
            lease = os.open(index, _CREATE, 0o666)
            os.write(lease, _LEASE)
            os.close(lease)
            os.link(index, "lease.json", dst_dir_fd=lock)
            return float(task[-_AT:])
        finally:
            os.close(lock)

    def finish(self, names: Sequence[str]) -> None:
        """Write a record for each of these jobs and take their folders away."""
        for start in range(0, len(names), TOGETHER):
            self._finish(names[start : start + TOGETHER])

    def _finish(self, names: Sequence[str]) -> None:
        root, each = self._root, not _together(len(names))
        locks = [self._record(name, sync=each) for name in names]
        if not each:
            _sync_all(f"{root}/drafts")
        for lock, name in zip(locks, names, strict=True):
            os.fchmod(lock, _MOVING)
            os.rename(f"{root}/drafts/{name}", f"{root}/completed/{name}.json")  # noqa: PTH104
        _sync_folder(f"{root}/completed")
        for lock, name in zip(locks, names, strict=True):
            os.unlink("task.json", dir_fd=lock)
            os.unlink("lease.json", dir_fd=lock)
            os.rmdir(f"{root}/pending/{name}")  # noqa: PTH106
            os.unlink(f"{root}/leases/{name}")  # noqa: PTH108
        for lock in locks:
            os.close(lock)

    def _record(self, name: str, *, sync: bool) -> int:
        lock = os.open(f"{self._root}/pending/{name}", _FOLDER)
        fcntl.flock(lock, fcntl.LOCK_EX)
        _read("lease.json", lock)
        os.fstat(lock)
        record = os.open(f"{self._root}/drafts/{name}", _CREATE, 0o666)
        os.write(record, _RECORD)
        if sync:
            os.fsync(record)
        os.close(record)
        return lock


def _is_absent(path: str) -> None:
    try:
        os.stat(path)  # noqa: PTH116
    except FileNotFoundError:
        return
    raise FileExistsError(path)


def _read(name: str, lock: int) -> bytes | None:
    try:
        file = os.open(name, _READ, dir_fd=lock)
    except FileNotFoundError:
        return None
    content = os.read(file, _CHUNK)
    os.close(file)
    return content


def _together(jobs: int) -> bool:
    return _SYNCFS is not None and jobs >= WORTH_IT


def _sync_folder(path: str) -> None:
    folder = os.open(path, _FOLDER)
    os.fsync(folder)
    os.close(folder)


def _sync_all(path: str) -> None:
    folder = os.open(path, _FOLDER)
    if _SYNCFS(folder):
        raise OSError(ctypes.get_errno(), "syncfs failed", path)
    os.close(folder)
