"""The limit of memory: one heap under a lock, claims and deletions by a hundred."""

from __future__ import annotations

import json
import threading
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from bench.contender import BATCH, Cycling

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path
    from threading import Event

    from bench.contender import Handler, Payload

WAIT: Final = 0.1


class RawMemory(Cycling):
    """Bodies are JSON text like ours; no lease, no fence, no history, no retry."""

    processes = False

    def __init__(self, folder: Path, handle: Handler) -> None:
        super().__init__(folder, handle)
        self._numbers = count()
        self._ready: list[tuple[int, int, str]] = []
        self._held: dict[int, str] = {}
        self._changed = threading.Condition()

    def push(self, payload: Payload) -> None:
        self._add([json.dumps(payload)])

    def push_many(self, payloads: Sequence[Payload]) -> None:
        self._add([json.dumps(payload) for payload in payloads])

    def prepare(self, payloads: Sequence[Payload]) -> Sequence[object]:
        return [json.dumps(payload) for payload in payloads]

    def cycle(self, prepared: Sequence[object]) -> int:
        self._add(prepared)
        with self._changed:
            claimed = self._claim(len(prepared))
        self._finish(claimed)
        return len(claimed)

    def unfinished(self) -> int:
        with self._changed:
            return len(self._ready) + len(self._held)

    def work(self, stop: Event) -> None:
        while not stop.is_set():
            with self._changed:
                if not self._ready:
                    self._changed.wait(WAIT)
                claimed = self._claim(BATCH)
            for _, _, text in claimed:
                self.handle(json.loads(text))
            self._finish(claimed)

    def close(self) -> None:
        """Nothing to free."""

    def _add(self, texts: Iterable[Any]) -> None:
        with self._changed:
            for text in texts:
                heappush(self._ready, (0, next(self._numbers), text))
            self._changed.notify()

    def _claim(self, limit: int) -> list[tuple[int, int, str]]:
        claimed = [heappop(self._ready) for _ in range(min(limit, len(self._ready)))]
        for _, number, text in claimed:
            self._held[number] = text
        return claimed

    def _finish(self, claimed: Iterable[tuple[int, int, str]]) -> None:
        with self._changed:
            for _, number, _ in claimed:
                del self._held[number]
