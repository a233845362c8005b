"""Where claims wait that share a value with others which are before them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ferryman.flow.gate import Gate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ferryman.flow.gate import Claimed
    from ferryman.flow.lines import Lines, Place
    from ferryman.job import Job

TURN: Final = 0.02
"""Seconds after which the turn of another worker is likely to be over."""
MOST_WAITING: Final = 100
"""Claims that wait in one worker: their leases are held, so there must be an end to it."""


class LineGate(Gate):
    """Claims join the line of their value, and wait here until it is their turn."""

    always = True

    def __init__(
        self, lines: Lines, value_of: Callable[[Job], str | None], keep_for: float
    ) -> None:
        super().__init__()
        self._lines = lines
        self._value_of = value_of
        self._keep_for = keep_for
        self._turn = False
        self._joining: list[Place] = []
        self._waiting: dict[Claimed, str] = {}
        self._running: dict[Claimed, str] = {}
        self._standing: set[str] = set()
        self._admitted: list[Claimed] = []
        self._gone: set[str] = set()

    def look(self, want: int) -> int:
        with self._lock:
            return max(0, min(want, MOST_WAITING - len(self._waiting)))

    def reserve(self, want: int) -> int:
        self._turn = self._turn or self._lines.take_turn(self._keep_for)
        self.opens_at = None if self._turn else self._lines.clock.now() + TURN
        return want if self._turn else 0

    def bind(self, claim: Claimed) -> None:
        value = self._value_of(claim.job)
        if value is not None:
            with self._lock:
                self._waiting[claim] = name(claim.job)
                self._standing.add(name(claim.job))
                self._joining.append((value, name(claim.job)))

    def trim(self) -> None:
        """Join the lines with what was claimed; whoever may not run yet waits."""
        if self._turn:
            try:
                self._admit(self._join())
            finally:
                self._turn = False

    def stands(self, claim: Claimed) -> bool:
        """Whether a claim was or is in a line: only `admitted` hands it over."""
        return name(claim.job) in self._standing

    def admitted(self, fits: Callable[[Claimed], bool]) -> Claimed | None:
        """A claim whose turn has come and for which there is room, each once."""
        with self._lock:
            for claim in self._admitted:
                if fits(claim):
                    self._admitted.remove(claim)
                    return claim
        return None

    @property
    def waiting(self) -> Sequence[Claimed]:
        with self._lock:
            return [*self._waiting, *self._admitted]

    def enter(self, claim: Claimed) -> float | None:
        return None

    def leave(self, claim: Claimed) -> None:
        place = self._running.pop(claim, None) or self._waiting.pop(claim, None)
        if place is not None:
            self._gone.add(place)

    def advance(self) -> None:
        """Leave the lines for those that ended, and see whose turn it is now."""
        gone = set(self._gone)
        if gone:
            first = self._lines.leave(gone, self._keep_for)
            self._gone -= gone
            self._standing -= gone
        elif self._joining and not self._turn:
            first = self._join()  # the store was away when they were claimed
        elif self._waiting:
            first = self._lines.first()
        else:
            return
        self._admit(first)

    def release(self, claim: Claimed) -> None:
        """Let a claim go before its turn: it will not run."""
        self._admit({name(claim.job)})

    def keep(self) -> None:
        with self._lock:
            held = bool(self._waiting or self._running)
        if held:
            self._lines.leave((), self._keep_for)

    def _join(self) -> set[str]:
        with self._lock:
            places = list(self._joining)
        first = self._lines.join(places, self._keep_for)
        with self._lock:
            del self._joining[: len(places)]
        return first

    def _admit(self, first: set[str]) -> None:
        with self._lock:
            # Of a copy: `leave` takes no lock.
            for claim, place in list(self._waiting.items()):
                if place in first and self._waiting.pop(claim, None) is not None:
                    self._running[claim] = place
                    self._admitted.append(claim)


def name(job: Job) -> str:
    """A claim's name in a line: an id can be claimed again."""
    return f"{job.id}:{job.fence}"
