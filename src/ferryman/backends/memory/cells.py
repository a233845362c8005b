"""Small shared values with compare-and-set."""

from __future__ import annotations

from ferryman.queue.answers import Cell


class Cells:
    """Cells by key. The last version of each key is kept, so that versions only grow."""

    def __init__(self) -> None:
        self._cells: dict[str, Cell] = {}
        self._versions: dict[str, int] = {}

    def read(self, prefix: str, now: float) -> list[Cell]:
        """Living cells whose key starts with `prefix`, by key."""
        cells = sorted(self._cells.items())
        return [cell for key, cell in cells if key.startswith(prefix) and _lives(cell, now)]

    def write(
        self, key: str, value: str | None, expect: int | None, ttl: float | None, now: float
    ) -> Cell | None:
        """Write or delete if the version is the expected one; see the contract."""
        cell = self._cells.get(key)
        if cell is not None and not _lives(cell, now):
            cell = None
        if expect is not None and expect != (0 if cell is None else cell.version):
            return None
        if value is None:
            self._cells.pop(key, None)
            return cell
        version = self._versions.get(key, 0) + 1
        written = Cell(key, value, version, None if ttl is None else now + ttl)
        self._versions[key] = version
        self._cells[key] = written
        return written


def _lives(cell: Cell, now: float) -> bool:
    return cell.expires_at is None or cell.expires_at > now
