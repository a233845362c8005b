"""Everything that a seed decides: what is pushed, what handlers do, and when faults strike.

The same seed and number of kills give the same plan. What it meets does not repeat: the moment at
which a kill lands inside a transaction is the machine's, and so is the retry policy's jitter.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chaos.acts import acts
from chaos.cast import HOUSE
from chaos.faults import faults
from chaos.script import script

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chaos.acts import Act
    from chaos.cast import Cast
    from chaos.faults import Fault
    from chaos.script import Push


@dataclass(frozen=True, slots=True)
class Plan:
    """One campaign on paper. Times are seconds from its start."""

    seed: int
    kills: int
    cast: Cast
    scripts: Mapping[str, tuple[Push, ...]]
    acts: tuple[Act, ...]
    faults: tuple[Fault, ...]

    @classmethod
    def of(cls, seed: int, kills: int, cast: Cast = HOUSE) -> Plan:
        """The plan that a seed stands for."""
        strikes = tuple(faults(_chance(seed, "faults"), kills, cast))
        seconds = strikes[-1].at
        scripts = {
            name: tuple(script(_chance(seed, name), name, seconds, cast)) for name in cast.producers
        }
        pushes = [push for steps in scripts.values() for push in steps]
        ordered = tuple(acts(_chance(seed, "acts"), pushes, seconds, cast.pace.stretch))
        ordered = () if cast.plain else ordered
        return cls(seed, kills, cast, scripts, ordered, strikes)

    @property
    def falls(self) -> int:
        """How often every process of a node is killed at once."""
        struck: defaultdict[float, set[str]] = defaultdict(set)
        for fault in self.faults:
            if fault.kind == "kill":
                struck[fault.at].add(fault.target)
        members = [set(self.cast.on(node)) for node in self.cast.nodes]
        return sum(node <= names for names in struck.values() for node in members)

    @property
    def seconds(self) -> float:
        """When the last fault strikes."""
        return self.faults[-1].at


def _chance(seed: int, stream: str) -> random.Random:
    # A stream of its own for each part: a change to one leaves the others as they were.
    return random.Random(f"{seed}/{stream}")  # noqa: S311 - replayable, not secret
