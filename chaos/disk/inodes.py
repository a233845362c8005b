"""What a file system holds, twice: as its processes see it, and as a loss of power may leave it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator


_NUMBERS: Final = itertools.count(1)


@dataclass(eq=False, slots=True)
class File:
    """Content now, and the content that was synced last; a new file is synced empty."""

    content: bytes = b""
    synced: bytes = b""
    names: int = 0
    changed_at: float = 0.0
    number: int = field(default_factory=lambda: next(_NUMBERS))

    @property
    def dirty(self) -> bool:
        return self.content != self.synced


@dataclass(eq=False, slots=True)
class Folder:
    """Names now, and the names that no loss of power can take: those before the first of the log.

    `hinted` is the sticky bit, `was_hinted` what of it was synced.
    """

    entries: dict[str, Node] = field(default_factory=dict)
    kept: dict[str, Node] = field(default_factory=dict)
    hinted: bool = False
    was_hinted: bool = False
    removed: bool = False
    changed_at: float = 0.0
    number: int = field(default_factory=lambda: next(_NUMBERS))


Node = File | Folder
Place = tuple[Folder, str]


@dataclass(eq=False, slots=True)
class Change:
    """One change of names, whole or absent after a loss of power.

    The sync of `home` makes it durable: of a rename that is the folder of the new name.
    """

    home: Folder
    sets: tuple[tuple[Folder, str, Node | None], ...]
    synced: bool = False

    def apply(self, names: dict[Folder, dict[str, Node]]) -> None:
        for folder, name, node in self.sets:
            entries = names.setdefault(folder, dict(folder.kept))
            if node is None:
                entries.pop(name, None)
            else:
                entries[name] = node


class Inodes:
    """One tree of folders with the log of what was not synced yet.

    Nothing orders two changes that were not synced: each may survive without the other, also those
    of one folder. That is weaker than any journal, so what holds here holds on all of them.
    """

    def __init__(self) -> None:
        self.root = Folder()
        self.log: list[Change] = []

    def change(self, home: Folder, *sets: tuple[Folder, str, Node | None]) -> None:
        """Do a change of names as every process sees it at once."""
        for folder, name, node in sets:
            before = folder.entries.pop(name, None)
            if isinstance(before, File):
                before.names -= 1
            if isinstance(node, File):
                node.names += 1
            if node is not None:
                folder.entries[name] = node
        self.log.append(Change(home, sets))

    def sync_names(self, folder: Folder) -> None:
        """Make every change that this folder is the home of durable."""
        for change in self.log:
            if change.home is folder:
                change.synced = True
        folder.was_hinted = folder.hinted
        self._fold()

    def sync_all(self) -> None:
        """Make all names and all content durable."""
        for change in self.log:
            change.synced = True
        self._fold()
        nodes: list[Node] = [self.root]
        while nodes:
            node = nodes.pop()
            if isinstance(node, File):
                node.synced = node.content
            else:
                node.was_hinted = node.hinted
                nodes += node.entries.values()

    def unsynced(self) -> list[Change]:
        return [change for change in self.log if not change.synced]

    def survivors(self, lost: frozenset[int]) -> dict[Folder, dict[str, Node]]:
        """The names of each changed folder when these numbers of the log did not survive."""
        names: dict[Folder, dict[str, Node]] = {}
        for number, change in enumerate(self.log):
            if change.synced or number not in lost:
                change.apply(names)
        return names

    def _fold(self) -> None:
        # In order, for a later change of a name wins over an earlier one that survives with it.
        done = 0
        while done < len(self.log) and self.log[done].synced:
            done += 1
        names: dict[Folder, dict[str, Node]] = {}
        for change in self.log[:done]:
            change.apply(names)
        for folder, entries in names.items():
            folder.kept = entries
        del self.log[:done]


def walk(folder: Folder, path: str = "") -> Iterator[tuple[str, Node]]:
    """Every path below a folder, as processes see it."""
    for name, node in folder.entries.items():
        yield f"{path}/{name}", node
        if isinstance(node, Folder):
            yield from walk(node, f"{path}/{name}")
