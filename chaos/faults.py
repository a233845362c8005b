"""When processes are killed and frozen, when nodes are cut off or die, and the server crashes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from chaos.cast import Cast

    Strike = Callable[[float, int], Sequence["Fault"]]

_FREEZE_EVERY: Final = (3, 5)
"""After so many strikes one freezes instead of killing."""
_DRAIN_EVERY: Final = (12, 20)
"""After so many strikes one asks a worker to drain, as a rolling deploy does."""
_MASSACRE_EVERY: Final = (60, 120)
"""After so many strikes one kills everyone at once, as a loss of power would."""
_CUT_EVERY: Final = (3, 6)
"""After so many strikes one takes a node's way to the store away."""
_FALL_EVERY: Final = (8, 14)
"""After so many strikes one kills every process of a node."""
_CRASH_EVERY: Final = (4, 7)
"""After so many strikes one crashes the server."""
_AGAIN: Final = 0.15
"""The share of kills that hit the same process again while it is still starting."""
_SPARED: Final = 0.9
"""The share of kills that spare the frozen: what they do when they wake is what we want to see."""
_WIPED: Final = 0.4
"""The share of dead nodes whose folder is gone when they come back, where that may happen."""


@dataclass(frozen=True, slots=True)
class Fault:
    """At `at` seconds: SIGKILL and a new process `seconds` later, or SIGSTOP for `seconds`, or
    SIGTERM and a new process as soon as the drain is over.

    `instead` is hit where the script of `target` has already ended. For a `cut` the target is a
    node, for `seconds`, and `instead` says how; for a `wipe` a node that has just been killed. A
    `crash` ends the server at once; it is started again `seconds` later.
    """

    at: float
    kind: Literal["kill", "freeze", "drain", "cut", "wipe", "crash"]
    target: str
    seconds: float
    instead: str


def faults(chance: random.Random, kills: int, cast: Cast) -> Iterator[Fault]:
    """Faults in order of time, until `kills` of them are kills."""
    at, left = cast.pace.gap, kills
    fate = _Fate(chance, cast)
    while left > 0:
        at += chance.uniform(0.2, 1.8) * cast.pace.gap
        struck = fate.strike(at, left)
        left -= sum(fault.kind == "kill" for fault in struck)
        at = struck[-1].at
        yield from struck


class _Fate:
    """Draws what strikes next, and remembers who is frozen or down."""

    def __init__(self, chance: random.Random, cast: Cast) -> None:
        self._chance = chance
        self._cast = cast
        self._frozen: dict[str, float] = {}
        self._down: dict[str, float] = {}
        kinds: list[tuple[tuple[int, int], Strike]] = [
            (_FREEZE_EVERY, self._freeze),
            (_DRAIN_EVERY, self._drain),
            (_MASSACRE_EVERY, self._massacre),
        ]
        if cast.nodes:
            kinds += [(_CUT_EVERY, self._cut), (_FALL_EVERY, self._fall)]
        if cast.crashes:
            kinds.append((_CRASH_EVERY, self._crash))
        self._rare = [(_Every(chance, *every), strike) for every, strike in kinds]
        self._kill_weights = {
            **dict.fromkeys((*cast.workers, *cast.couriers), 4),
            **dict.fromkeys((*cast.producers, *cast.supervisors), 3),
            cast.operator: 1,
        }
        self._freeze_weights = {
            **dict.fromkeys(cast.workers, 6),
            **dict.fromkeys(cast.couriers, 3),
            **dict.fromkeys((*cast.producers, *cast.supervisors), 1),
        }

    def strike(self, at: float, left: int) -> Sequence[Fault]:
        for every, strike in self._rare:
            if every.now():
                return strike(at, left)
        return self._kills(at, left)

    def _freeze(self, at: float, left: int) -> Sequence[Fault]:
        # Longer than the lease: it has expired when the process goes on as if nothing had been.
        seconds = self._chance.uniform(1.5, 3.0) * self._cast.pace.lease
        target = _one_of(self._chance, self._freeze_weights)
        self._frozen[target] = at + seconds
        return [Fault(at, "freeze", target, seconds, self._chance.choice(self._cast.workers))]

    def _drain(self, at: float, left: int) -> Sequence[Fault]:
        target = self._chance.choice(self._cast.workers)
        return [Fault(at, "drain", target, 0.0, self._chance.choice(self._cast.couriers))]

    def _massacre(self, at: float, left: int) -> Sequence[Fault]:
        return [self._kill(at, name) for name in self._cast.everyone[:left]]

    def _crash(self, at: float, left: int) -> Sequence[Fault]:
        return [Fault(at, "crash", "server", self._chance.uniform(0.0, 0.3), "")]

    def _cut(self, at: float, left: int) -> Sequence[Fault]:
        """For a part of a lease, or for much longer than one."""
        seconds = self._chance.uniform(0.3, 3.0) * self._cast.pace.lease
        node, how = self._chance.choice(self._cast.nodes), self._chance.choice(["reset", "silent"])
        return [Fault(at, "cut", node, seconds, how)]

    def _fall(self, at: float, left: int) -> Sequence[Fault]:
        node = self._chance.choice(self._cast.nodes)
        seconds = self._chance.uniform(0.1, 2.0) * self._cast.pace.lease
        self._down |= dict.fromkeys(self._cast.on(node), at + seconds)
        members = self._cast.on(node)[:left]
        fallen = [Fault(at, "kill", name, seconds, members[0]) for name in members]
        if self._chance.random() < _WIPED and self._cast.wiped:
            fallen.append(Fault(at, "wipe", node, seconds, members[0]))
        return fallen

    def _kills(self, at: float, left: int) -> Sequence[Fault]:
        frozen = {name for name, until in self._frozen.items() if until > at}
        spared = frozen if self._chance.random() < _SPARED else set()
        spared = spared | {name for name, until in self._down.items() if until > at}
        weights = {k: v for k, v in self._kill_weights.items() if k not in spared}
        fault = self._kill(at, _one_of(self._chance, weights))
        if left > 1 and self._chance.random() < _AGAIN:
            again = at + fault.seconds + self._chance.uniform(0.0, 0.06)
            return [fault, self._kill(again, fault.target)]
        return [fault]

    def _kill(self, at: float, target: str) -> Fault:
        seconds = self._chance.uniform(0.0, 0.03)
        return Fault(at, "kill", target, seconds, self._chance.choice(self._cast.workers))


class _Every:
    """True once in a while; how long that is changes each time."""

    def __init__(self, chance: random.Random, low: int, high: int) -> None:
        self._draw = partial(chance.randint, low, high)
        self._left = self._draw()

    def now(self) -> bool:
        self._left -= 1
        if self._left >= 0:
            return False
        self._left = self._draw()
        return True


def _one_of(chance: random.Random, weights: Mapping[str, int]) -> str:
    return chance.choices(list(weights), list(weights.values()))[0]
