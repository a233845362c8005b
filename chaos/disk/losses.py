"""Losses of power: which of the unsynced survives is chance, and every choice is a state."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from chaos.disk.inodes import File, Folder, Inodes, Node, walk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random


def losses(inodes: Inodes, chance: Random, count: int) -> Iterator[Inodes]:
    """Ways in which the power may be lost now: the extremes first, then by chance."""
    unsynced = [number for number, change in enumerate(inodes.log) if not change.synced]
    extremes = [(frozenset(unsynced), 0), (frozenset[int](), 1), (frozenset[int](), 2)]
    for lost, content in extremes[:count]:
        yield _Survivor(inodes, lost, chance, content).tree()
    for _ in range(count - len(extremes)):
        yield _Survivor(inodes, _some(unsynced, chance), chance, None).tree()


def fingerprint(inodes: Inodes) -> bytes:
    """The same for two trees that no process could tell apart."""
    digest = hashlib.blake2b(digest_size=12)
    for path, node in sorted(walk(inodes.root), key=lambda found: found[0]):
        seen = node.content if isinstance(node, File) else b"/" + bytes([node.hinted])
        digest.update(b"%d %s %d " % (len(path), path.encode(), len(seen)) + seen)
    return digest.digest()


def _some(unsynced: list[int], chance: Random) -> frozenset[int]:
    """Some of the unsynced changes: as a journal loses them, one, all but one, or any."""
    if not unsynced:
        return frozenset()
    kind = chance.randrange(6)
    if kind == 0:
        return frozenset(unsynced[chance.randrange(len(unsynced)) :])
    # Old ones were lost or kept at earlier moments already.
    recent = unsynced[-8:]
    if kind == 1:
        return frozenset({chance.choice(recent)})
    if kind == 2:
        return frozenset(unsynced) - {chance.choice(recent)}
    share = chance.choice((0.2, 0.5, 0.8))
    return frozenset(number for number in unsynced if chance.random() < share)


class _Survivor:
    """A new tree of what survived; in it, everything is synced."""

    def __init__(
        self, inodes: Inodes, lost: frozenset[int], chance: Random, content: int | None
    ) -> None:
        self._root = inodes.root
        self._names = inodes.survivors(lost)
        self._chance = chance
        self._content = content
        self._copies: dict[Node, Node] = {}

    def tree(self) -> Inodes:
        tree = Inodes()
        root = self._copy(self._root)
        if isinstance(root, Folder):
            tree.root = root
        return tree

    def _copy(self, node: Node) -> Node:
        if node not in self._copies:
            # Before its names: a loop would be a bug of this simulation, and must show as one.
            self._copies[node] = self._file(node) if isinstance(node, File) else Folder()
            if isinstance(node, Folder):
                self._copies[node] = self._folder(node)
        copy = self._copies[node]
        if isinstance(copy, File):
            copy.names += 1
        return copy

    def _folder(self, folder: Folder) -> Folder:
        names = self._names.get(folder, folder.kept)
        entries = {name: self._copy(node) for name, node in names.items()}
        hinted = self._chance.choice((folder.hinted, folder.was_hinted))
        return Folder(entries, dict(entries), hinted, hinted, changed_at=folder.changed_at)

    def _file(self, file: File) -> File:
        content = self._surviving(file) if file.dirty else file.content
        return File(content, content, 0, file.changed_at)

    def _surviving(self, file: File) -> bytes:
        cut = file.content[: self._chance.randrange(len(file.content) + 1)]
        choices = (file.synced, file.content, b"", cut)
        return choices[self._chance.randrange(4) if self._content is None else self._content]
