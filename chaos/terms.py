"""How strictly a store is judged where it promises less than one machine can."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Terms:
    """`clock`: seconds by which the store's time may differ from this machine's.

    `relaxed`: between nodes a job may run and end more than once. That is counted and shown, and
    what follows from it is no finding; nothing may be lost all the same.
    `at_least_once`: the store keeps no record of jobs, so only what processes wrote down is judged.
    """

    clock: float = 0.0
    relaxed: bool = False
    at_least_once: bool = False

    @property
    def may_end_twice(self) -> bool:
        return self.relaxed or self.at_least_once


STERN: Final = Terms()
"""Everything that is promised on one machine."""
