"""When a charged attempt is tried again. Pure."""

from __future__ import annotations

import random
from dataclasses import dataclass

from ferryman.errors import InvalidMessage
from ferryman.message import BACKOFF, check_seconds


@dataclass(frozen=True, slots=True)
class Backoff:
    """Seconds before the next attempt: base × factor^(attempt − 1), at most `cap`, ± `jitter`."""

    base: float = 2.0
    factor: float = 2.0
    cap: float = 600.0
    jitter: float = 0.1

    def __post_init__(self) -> None:
        check_seconds("backoff.base", self.base)
        check_seconds("backoff.cap", self.cap)
        for name in ("factor", "jitter"):
            (low, high), value = BACKOFF[name], getattr(self, name)
            if not low <= value <= high:
                raise InvalidMessage(
                    f"backoff.{name}", f"must be from {low:g} to {high:g}, got {value}"
                )

    def delay(self, attempt: int, roll: float | None = None) -> float:
        """Seconds to wait after `attempt` (1, 2, …) failed; `roll` in 0…1 replaces chance."""
        chance = random.random() if roll is None else roll  # noqa: S311
        # The exponent is capped before the power is taken: attempt 10^6 must not overflow.
        grown = min(self.cap, self.base * self.factor ** min(attempt - 1, 150))
        return min(self.cap, grown * (1 + self.jitter * (2 * chance - 1)))

    def text(self) -> str | None:
        """The form kept with the job; None is the default policy."""
        if self == DEFAULT_BACKOFF:
            return None
        return f"{self.base!r},{self.factor!r},{self.cap!r},{self.jitter!r}"

    @classmethod
    def parse(cls, text: str | None) -> Backoff:
        return DEFAULT_BACKOFF if text is None else cls(*map(float, text.split(",")))


DEFAULT_BACKOFF = Backoff()
