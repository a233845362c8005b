"""The Python files of an app, and whether they changed."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NOT_OURS: Final = frozenset({"__pycache__", "node_modules", "site-packages"})


class Sources:
    """All `.py` files below a folder, by time and size; hidden folders and environments are left
    out."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen = self._look()

    @classmethod
    def of(cls, target: str) -> Sources:
        """Those of the app at `module:attribute`: the current folder, or where it is installed."""
        top = target.partition(":")[0].partition(".")[0]
        here = Path.cwd()
        if not (here / f"{top}.py").exists() and not (here / top).is_dir():
            spec = find_spec(top) if top.isidentifier() else None
            if spec is not None and spec.origin is not None and spec.has_location:
                return cls(Path(spec.origin).parent)
        return cls(here)

    def changed(self) -> str | None:
        """A file that is new, gone or different since the last question, if any is."""
        before, self._seen = self._seen, self._look()
        different = dict(before.items() ^ self._seen.items())
        return os.path.relpath(min(different)) if different else None

    def _look(self) -> Mapping[str, tuple[int, int]]:
        return dict(_files(str(self._folder)))


def _files(folder: str) -> Iterator[tuple[str, tuple[int, int]]]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return  # gone since it was listed
    if any(entry.name == "pyvenv.cfg" for entry in entries):
        return
    for entry in entries:
        if entry.name.startswith(".") or entry.name in _NOT_OURS:
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _files(entry.path)
        elif entry.name.endswith(".py"):
            try:
                stat = entry.stat()
            except OSError:
                continue
            yield entry.path, (stat.st_mtime_ns, stat.st_size)
