"""How long the machine lets a process wait that could run."""

from __future__ import annotations

import threading
import time
from typing import Final, Self

_NAP: Final = 0.02


class Stall:
    """Sleeps for moments while the block runs; `worst` is the most seconds that one overran."""

    def __init__(self) -> None:
        self.worst = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        while not self._ended.is_set():
            began = time.monotonic()
            time.sleep(_NAP)
            self.worst = max(self.worst, time.monotonic() - began - _NAP)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
