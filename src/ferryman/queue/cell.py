"""One cell of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferryman.queue.answers import Cell
    from ferryman.queue.contract import Backend


def read_cell(backend: Backend, key: str) -> Cell | None:
    """The cell of exactly this key, where `read_cells` finds all whose keys begin with it."""
    return next((cell for cell in backend.read_cells(key) if cell.key == key), None)
