"""How long a call waits for the server, and how often it tries."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds to connect and to wait for an answer; at most `tries`, none begun after `overall`.

    Between tries it pauses a random part of `pause`, doubled each time up to `longest`.
    """

    connect: float = 3.0
    answer: float = 8.0
    tries: int = 6
    overall: float = 15.0
    pause: float = 0.05
    longest: float = 2.0


class Tries:
    """One call's tries; nested calls share its deadline by sharing the object's `until`."""

    def __init__(self, patience: Patience, until: float | None = None) -> None:
        self._patience = patience
        self.until = time.monotonic() + patience.overall if until is None else until

    def __iter__(self) -> Iterator[int]:
        pause = self._patience.pause
        for number in range(self._patience.tries):
            if number:
                # Rivals that met once must not meet again: the whole pause is random.
                wait = random.uniform(0, pause)  # noqa: S311
                if time.monotonic() + wait > self.until:
                    return
                time.sleep(wait)
                pause = min(pause * 2, self._patience.longest)
            yield number
