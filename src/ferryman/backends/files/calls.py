"""The calls of the file backend, as a protocol: what another `Disk` must do.

A test may hand in another `Disk` that counts, kills, fails or simulates. Each method is one call
of the protocol; where it takes several system calls its docstring lists them in order, with what a
reader may find after a stop between them.

Paths are absolute strings. Where `at` is given, the name is looked up in that locked folder: a
folder that was removed meanwhile is empty for ever, so nothing can be found or made in it.
Absence is an answer (None or False); every other trouble is an `OSError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class SyncFailed(OSError):
    """An fsync failed: what was written may be lost, and asking again would not tell the truth."""


class Found(NamedTuple):
    """What lies at a path. `hinted` is the sticky bit; `changed_at` the last change of content.

    `inode` tells a file from a later one of the same name. `moved_at` is the last change of
    anything, its name and place included, which nobody can set.
    """

    folder: bool
    file: bool
    hinted: bool
    size: int
    changed_at: float
    inode: int
    moved_at: float


class Room(NamedTuple):
    """Free bytes and inodes of a file system; inodes are -1 where it does not count them."""

    free_bytes: int
    free_inodes: int


class Disk(Protocol):
    """The calls. A lock is an int, valid until `unlock`; the death of its process frees it."""

    def read(self, path: str, at: int | None = None) -> bytes | None:
        """A file's whole content; None if there is none (or a folder stands there)."""
        ...

    def read_from(self, path: str, offset: int, size: int) -> bytes | None:
        """At most `size` bytes from an offset; None if there is no such file."""
        ...

    def create(self, path: str, content: bytes, *, sync: bool, at: int | None = None) -> None:
        """Make a file that must not exist. Steps: create (empty), write, fsync if `sync`, close."""
        ...

    def append(self, path: str, content: bytes) -> None:
        """Add to a file, made if absent, in one write; never synced.

        Steps: create if absent, lock shared, look whether it is still linked (else from the start),
        write, unlock.
        """
        ...

    def drop(self, path: str, size: int) -> bool:
        """Remove a file if nobody appended beyond `size`; False if somebody did.

        Steps: lock exclusively, look at the size, unlink, unlock.
        """
        ...

    def link(self, path: str, new: str, *, at: int | None = None) -> bool:
        """Give a file a second name, in the folder `at`; False if that name is taken."""
        ...

    def rename(self, path: str, new: str, *, at: int | None = None) -> None:
        """Move a file to a name, in the folder `at` if given, replacing a file that has it."""
        ...

    def move_folder(self, path: str, new: str) -> bool:
        """Rename a folder; False if a folder with something in it, or a file, has that name."""
        ...

    def unlink(self, path: str, at: int | None = None) -> bool:
        """Remove a file; False if there was none."""
        ...

    def make_folder(self, path: str) -> bool:
        """Make a folder; False if something has that name."""
        ...

    def remove_folder(self, path: str) -> bool:
        """Remove an empty folder; False if it is not empty or not there."""
        ...

    def sync_folder(self, path: str, at: int | None = None) -> None:
        """Make names made, moved and removed in a folder durable (`at`: in that locked one)."""
        ...

    def set_hinted(self, lock: int, hinted: bool) -> None:
        """Set or clear the sticky bit of a locked folder; never synced."""
        ...

    def hinted(self, lock: int) -> bool:
        """Whether a locked folder has its sticky bit."""
        ...

    def exists(self, path: str, at: int | None = None) -> bool:
        """Whether something is there. Trouble is no absence: it is raised."""
        ...

    def look(self, path: str, at: int | None = None) -> Found | None:
        """What lies there; links are not followed."""
        ...

    def names(self, path: str, at: int | None = None) -> Sequence[str] | None:
        """The names in a folder, in no order; None if there is no such folder."""
        ...

    def lock(self, path: str) -> int | None:
        """Wait for a folder's exclusive lock; None if there is no such folder."""
        ...

    def try_lock(self, path: str) -> int | None:
        """Like `lock`, but `BlockingIOError` at once while somebody holds it."""
        ...

    def lock_shared(self, path: str) -> int | None:
        """Like `lock`, but together with others who share it."""
        ...

    def unlock(self, lock: int) -> None:
        """Let go of a lock of any kind."""
        ...

    def time(self, probe: str) -> float:
        """The file system's own time, by touching a file of this process (made if absent)."""
        ...

    def room(self, path: str) -> Room:
        """What is left where a path lies."""
        ...

    @property
    def together(self) -> int | None:
        """How many new files `sync_all` is worth; None where it does not tell when it failed."""
        ...

    def sync_all(self, path: str) -> None:
        """Make everything durable that was written to the file system of a path until now."""
        ...

    def close(self) -> None:
        """Free descriptors that are kept; the next call opens what it needs."""
        ...
