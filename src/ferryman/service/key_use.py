"""When API keys were last used."""

from __future__ import annotations

import contextlib
import json
import threading
from typing import TYPE_CHECKING, Final

from ferryman.errors import BackendError
from ferryman.queue.cell import read_cell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferryman.queue.answers import Cell
    from ferryman.queue.contract import Backend

USE_CELLS: Final = "api-key-use/"
EVERY: Final = 60.0
"""Seconds between two writes about one key, over all servers."""
KEPT: Final = 365 * 86_400.0
"""Seconds after which a use is forgotten."""

_MOST_REMEMBERED: Final = 10_000


class KeyUse:
    """Uses in cells of their own: noting one can never bring back a key that was just revoked."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._lock = threading.Lock()
        self._next: dict[str, float] = {}

    def note(self, key_id: str) -> None:
        """This key is used now. A store that cannot take it is no reason to refuse anybody."""
        now = self._backend.clock.monotonic()
        with self._lock:
            if self._next.get(key_id, now) > now:
                return
            if len(self._next) >= _MOST_REMEMBERED:
                self._next.clear()
            self._next[key_id] = now + EVERY
        with contextlib.suppress(BackendError):
            self._write(USE_CELLS + key_id)

    def moments(self) -> Mapping[str, float]:
        """The store's time of the last use by key, right to a minute; of the last year."""
        cells = self._backend.read_cells(USE_CELLS)
        return {cell.key.removeprefix(USE_CELLS): _moment(cell) for cell in cells}

    def forget(self, key_id: str) -> None:
        self._backend.write_cell(USE_CELLS + key_id, None, expect=None)

    def _write(self, name: str) -> None:
        cell = read_cell(self._backend, name)
        now = self._backend.clock.now()
        if cell is None or abs(now - _moment(cell)) >= EVERY:
            # Whoever was quicker has noted the same.
            expect = 0 if cell is None else cell.version
            self._backend.write_cell(name, json.dumps(now), expect=expect, ttl=KEPT)


def _moment(cell: Cell) -> float:
    return float(json.loads(cell.value))
