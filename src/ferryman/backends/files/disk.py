"""Every file-system call of the file backend: nothing else in the package touches a disk.

What each call means, and where it may stop halfway, is said in `calls`. A test may hand in another
`Disk` that counts, kills, fails or simulates.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import re
import stat
import threading
from typing import TYPE_CHECKING

from ferryman.backends.files.calls import Disk, Found, Room, SyncFailed
from ferryman.backends.files.process import this_process

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


__all__ = ["Disk", "Found", "LocalDisk", "Room", "SyncFailed"]

# Logs in use are kept open: opening takes as long as the call that follows.
_KEPT = 128
_STICKY = stat.S_ISVTX
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# Not to wait at a pipe that somebody has put in the place of a file.
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
_ABSENT = (FileNotFoundError, NotADirectoryError)
_NONE = (*_ABSENT, IsADirectoryError)


TOGETHER = 32
"""New files from which on one sync of the whole file system takes less time than one for each."""


class LocalDisk:
    """The real calls. `durable=False` leaves out every fsync."""

    def __init__(self, *, durable: bool = True) -> None:
        self._durable = durable
        self.together = TOGETHER if durable and _SYNCFS is not None else None
        self._logs: dict[str, int] = {}
        self._lock = threading.Lock()
        self._pid = this_process.number

    def read(self, path: str, at: int | None = None) -> bytes | None:
        try:
            file = os.open(path, _READ, dir_fd=at)
        except _NONE:
            return None
        try:
            content = os.read(file, 65_536)
            if len(content) == 65_536:
                while more := os.read(file, 1 << 20):
                    content += more
            return content
        except IsADirectoryError:
            return None
        finally:
            os.close(file)

    def read_from(self, path: str, offset: int, size: int) -> bytes | None:
        try:
            file = os.open(path, _READ)
        except _NONE:
            return None
        try:
            return os.pread(file, size, offset)
        except IsADirectoryError:
            return None
        finally:
            os.close(file)

    def create(self, path: str, content: bytes, *, sync: bool, at: int | None = None) -> None:
        file = os.open(path, _CREATE, 0o666, dir_fd=at)
        try:
            _write(file, content)
            if sync and self._durable:
                _sync(file, path)
        finally:
            os.close(file)

    def append(self, path: str, content: bytes) -> None:
        # One thread at a time: they share the descriptor, and with it the lock.
        with self._lock:
            while True:
                log = self._log(path)
                fcntl.flock(log, fcntl.LOCK_SH)
                try:
                    if os.fstat(log).st_nlink:
                        _write(log, content)
                        return
                finally:
                    fcntl.flock(log, fcntl.LOCK_UN)
                self._forget(path)

    def drop(self, path: str, size: int) -> bool:
        try:
            log = os.open(path, _READ)
        except _NONE:
            return True
        try:
            fcntl.flock(log, fcntl.LOCK_EX)
            seen = os.fstat(log)
            if not seen.st_nlink:
                return True  # somebody else did; what has its name now is another log
            if seen.st_size > size:
                return False
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)  # noqa: PTH108 - hot paths stay with plain strings
            return True
        finally:
            os.close(log)

    def link(self, path: str, new: str, *, at: int | None = None) -> bool:
        try:
            os.link(path, new, dst_dir_fd=at)
        except FileExistsError:
            return False
        return True

    def rename(self, path: str, new: str, *, at: int | None = None) -> None:
        os.rename(path, new, dst_dir_fd=at)

    def move_folder(self, path: str, new: str) -> bool:
        try:
            os.rename(path, new)  # noqa: PTH104
        except (FileExistsError, NotADirectoryError):
            return False
        except OSError as error:
            if error.errno == _NOT_EMPTY:
                return False
            raise
        return True

    def unlink(self, path: str, at: int | None = None) -> bool:
        try:
            os.unlink(path, dir_fd=at)
        except _ABSENT:
            return False
        return True

    def make_folder(self, path: str) -> bool:
        try:
            os.mkdir(path)  # noqa: PTH102
        except FileExistsError:
            return False
        return True

    def remove_folder(self, path: str) -> bool:
        try:
            os.rmdir(path)  # noqa: PTH106
        except _ABSENT:
            return False
        except OSError as error:
            if error.errno == _NOT_EMPTY:
                return False
            raise
        return True

    def sync_folder(self, path: str, at: int | None = None) -> None:
        if not self._durable:
            return
        if at is not None:
            _sync(at, path)
            return
        folder = os.open(path, _FOLDER)
        try:
            _sync(folder, path)
        finally:
            os.close(folder)

    def sync_all(self, path: str) -> None:
        if _SYNCFS is None:
            raise SyncFailed(errno.ENOSYS, "there is no syncfs here", path)
        folder = os.open(path, _FOLDER)
        try:
            if _SYNCFS(folder):
                code = ctypes.get_errno()
                raise SyncFailed(code, os.strerror(code), path)
        finally:
            os.close(folder)

    def set_hinted(self, lock: int, hinted: bool) -> None:
        os.fchmod(lock, _HINTED if hinted else _PLAIN)

    def hinted(self, lock: int) -> bool:
        return bool(os.fstat(lock).st_mode & _STICKY)

    def exists(self, path: str, at: int | None = None) -> bool:
        try:
            # Without the option the call is a tenth quicker, and this is the most frequent one.
            os.stat(path) if at is None else os.stat(path, dir_fd=at)  # noqa: PTH116
        except _ABSENT:
            return False
        return True

    def look(self, path: str, at: int | None = None) -> Found | None:
        try:
            seen = os.stat(path, dir_fd=at, follow_symlinks=False)
        except _ABSENT:
            return None
        mode = seen.st_mode
        return Found(
            stat.S_ISDIR(mode),
            stat.S_ISREG(mode),
            bool(mode & _STICKY),
            seen.st_size,
            seen.st_mtime,
            seen.st_ino,
            seen.st_ctime,
        )

    def names(self, path: str, at: int | None = None) -> Sequence[str] | None:
        try:
            return os.listdir(path if at is None else at)  # noqa: PTH208
        except _ABSENT:
            return None

    def lock(self, path: str) -> int | None:
        return _locked(path, fcntl.LOCK_EX)

    def try_lock(self, path: str) -> int | None:
        return _locked(path, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def lock_shared(self, path: str) -> int | None:
        return _locked(path, fcntl.LOCK_SH)

    def unlock(self, lock: int) -> None:
        os.close(lock)

    def time(self, probe: str) -> float:
        try:
            os.utime(probe)
        except FileNotFoundError:
            os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666))
            os.utime(probe)
        # The time of change, which nobody can set.
        return os.stat(probe).st_ctime_ns / 1e9  # noqa: PTH116

    def room(self, path: str) -> Room:
        seen = os.statvfs(path)
        return Room(seen.f_bavail * seen.f_frsize, seen.f_favail if seen.f_files else -1)

    def close(self) -> None:
        with self._lock:
            for path in list(self._logs):
                self._forget(path)

    def _log(self, path: str) -> int:
        if self._pid != this_process.number:
            # A descriptor from before a fork shares its lock with the parent.
            self._close_inherited()
        log = self._logs.get(path)
        if log is None:
            if len(self._logs) >= _KEPT:
                self._forget(next(iter(self._logs)))
            log = self._logs[path] = os.open(path, _APPEND, 0o666)
        return log

    def _close_inherited(self) -> None:
        for path in list(self._logs):
            self._forget(path)
        self._pid = this_process.number

    def _forget(self, path: str) -> None:
        log = self._logs.pop(path, None)
        if log is not None:
            os.close(log)


_NOT_EMPTY = errno.ENOTEMPTY


def _locked(path: str, how: int) -> int | None:
    try:
        folder = os.open(path, _FOLDER)
    except _ABSENT:
        return None
    try:
        fcntl.flock(folder, how)
    except BaseException:
        os.close(folder)
        raise
    return folder


def _write(file: int, content: bytes) -> None:
    written = os.write(file, content)
    while written < len(content):
        written += os.write(file, content[written:])


def _sync(file: int, path: str) -> None:
    try:
        os.fsync(file)
    except OSError as error:
        raise SyncFailed(error.errno, error.strerror, path) from error


def _syncfs() -> Callable[[int], int] | None:
    """Linux's syncfs; before 5.8 it kept failures to itself."""
    release = re.match(r"(\d+)\.(\d+)", os.uname().release)
    if (
        os.uname().sysname != "Linux"
        or release is None
        or (int(release[1]), int(release[2])) < (5, 8)
    ):
        return None
    return getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)


_SYNCFS = _syncfs()


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


_PLAIN = 0o777 & ~_umask()
_HINTED = _PLAIN | _STICKY
