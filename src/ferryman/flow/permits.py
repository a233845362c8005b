"""Permits: how many leases may live at once, over all workers of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ferryman.clock import Clock
    from ferryman.flow.shared import Document, Value

PERMIT_CELLS: Final = "concurrency/"


class Permits:
    """One worker's part of `limit` permits. They are held like leases: prolonged while the worker
    lives, and free for others once they expire. Whoever calls is one thread at a time.

    The document is `{"limit": n, "holders": {worker: [permits, expires_at]}}`.
    """

    def __init__(self, limit: int, worker: str, value: Value, clock: Clock) -> None:
        self.limit = limit
        self.held = 0
        self._worker = worker
        self._value = value
        self._clock = clock

    def look(self) -> int:
        """How many this worker could hold more than it does."""
        return self._free(self._value.read(), self._clock.now())

    def hold(self, number: int, seconds: float, *, least: int = 0) -> int:
        """Hold so many, for `seconds` from now, or as many as there are; how many it are then.

        `least` are held even over the limit, as after a freeze in which others took them: what
        runs is counted. To hold fewer than before never fails.
        """

        def step(document: Document) -> tuple[Document | None, int]:
            now = self._clock.now()
            holders = {
                worker: entry
                for worker, entry in document.get("holders", {}).items()
                if entry[1] > now
            }
            mine = int(holders.pop(self._worker, (0, 0.0))[0])
            others = sum(entry[0] for entry in holders.values())
            after = max(least, min(number, self.limit - others))
            if after <= 0:
                return ({"limit": self.limit, "holders": holders} if mine else None), 0
            holders[self._worker] = [after, now + seconds]
            return {"limit": self.limit, "holders": holders}, after

        self.held = self._value.change(step)
        return self.held

    def _free(self, document: Document, now: float) -> int:
        holders = document.get("holders", {}).values()
        taken: int = sum(entry[0] for entry in holders if entry[1] > now)
        return max(0, self.limit - taken)
