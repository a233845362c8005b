"""A real disk whose process dies, or whose calls fail, at a chosen point."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any, Final, cast

from ferryman.backends.files.disk import LocalDisk, SyncFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ferryman.backends.files.disk import Disk


class Died(BaseException):
    """The process is dead: no `except Exception` of the backend sees that."""


class Points:
    """Counts the points at which a process can die: before each call and inside a longer one.

    A subclass says what happens at a point. After a call is before the next one; after the last
    call, only the answer is missing.
    """

    def __init__(self, disk: LocalDisk | None = None) -> None:
        self.seen: list[str] = []
        """What was about to happen at each point."""
        self._disk = disk or LocalDisk()

    @property
    def disk(self) -> Disk:
        """This, as the backend sees it."""
        return cast("Disk", self)

    @property
    def together(self) -> int | None:
        return self._disk.together

    def __getattr__(self, name: str) -> Callable[..., Any]:
        call = getattr(self._disk, name)

        def counted(*arguments: Any, **options: Any) -> Any:
            self._point(name, arguments)
            if name in _INSIDE:
                self._inside(name, arguments, options)
            return self._done(name, call(*arguments, **options))

        return counted

    def _point(self, name: str, arguments: tuple[Any, ...]) -> None:
        self.seen.append(f"{name} {' '.join(str(one)[-60:] for one in arguments[:2])}")
        self.strike(name)

    def _inside(self, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
        path, content = arguments
        for stage, part in _stages(name, self._disk, path, content, options):
            self.seen.append(f"{name} {path[-60:]}: {stage}")
            if self.strikes():
                write = LocalDisk(durable=False)
                if part is not None:
                    getattr(write, name)(path, part, **options)
                write.close()
                self.strike(stage)

    def _done(self, name: str, answer: Any) -> Any:
        return answer

    def strikes(self) -> bool:
        """Whether this point is the chosen one."""
        return False

    def strike(self, what: str) -> None:
        """What happens at the chosen point."""


class MortalDisk(Points):
    """Dies at one point: from then on no call is done, and its locks are free."""

    def __init__(self, disk: LocalDisk | None = None) -> None:
        super().__init__(disk)
        self._dies_at: int | None = None
        self._locks: set[int] = set()
        self.dead = False

    def arm(self, point: int | None) -> None:
        """Count from here, and die at that point."""
        self.seen.clear()
        self._dies_at = point

    def strikes(self) -> bool:
        return self.dead or len(self.seen) - 1 == self._dies_at

    def strike(self, what: str) -> None:
        if self.strikes():
            self.die()
            raise Died(f"at point {self._dies_at}: {self.seen[self._dies_at or 0]}")

    def die(self) -> None:
        """Close what a dead process cannot hold on to."""
        self.dead = True
        for lock in self._locks:
            os.close(lock)
        self._locks.clear()
        self._disk.close()

    def _done(self, name: str, answer: Any) -> Any:
        if name in {"lock", "try_lock", "lock_shared"} and answer is not None:
            self._locks.add(answer)
        return answer

    def unlock(self, lock: int) -> None:
        self._point("unlock", (lock,))
        self._locks.discard(lock)
        self._disk.unlock(lock)


class FailingDisk(Points):
    """Fails at one point with an error number, once or from then on until `repair`.

    A failed write leaves half of its content; a failed sync is a `SyncFailed`.
    """

    def __init__(self, number: int, *, lasting: bool = False) -> None:
        super().__init__()
        self._fails_at: int | None = None
        self._number = number
        self._lasting = lasting
        self.failed: list[str] = []
        self.sync_failed = False

    def arm(self, point: int) -> None:
        """Count from here, and fail at that point."""
        self.seen.clear()
        self._fails_at = point

    def repair(self) -> None:
        self._fails_at = None

    def strikes(self) -> bool:
        if self._fails_at is None:
            return False
        point = len(self.seen) - 1
        return point >= self._fails_at if self._lasting else point == self._fails_at

    def strike(self, what: str) -> None:
        if not self.strikes() or what in {"unlock", "close"}:
            return
        self.failed.append(self.seen[-1])
        unsynced = what in {"sync_folder", "not synced"}
        self.sync_failed |= unsynced
        kind = SyncFailed if unsynced else OSError
        raise kind(self._number, os.strerror(self._number), self.seen[-1])


NUMBERS: Final = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO}
_INSIDE: Final = frozenset({"create", "append"})


def _stages(
    name: str, disk: LocalDisk, path: str, content: bytes, options: dict[str, Any]
) -> Iterator[tuple[str, bytes | None]]:
    """What a longer call may leave behind: each stage, and how much of the content is there."""
    if name == "create" or not disk.exists(path):
        yield "empty", b""
    yield "half written", content[: len(content) // 2]
    if options.get("sync"):
        yield "not synced", content
