"""When processes are killed and frozen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from chaos.cast import COURIERS, EVERYONE, LEASE, OPERATOR, PRODUCERS, WORKERS

if TYPE_CHECKING:
    import random
    from collections.abc import Collection, Iterator, Mapping

GAP: Final = 0.15
"""Mean seconds between two faults."""

_FREEZE_EVERY: Final = (3, 5)
"""After so many strikes one freezes instead of killing."""
_DRAIN_EVERY: Final = (12, 20)
"""After so many strikes one asks a worker to drain, as a rolling deploy does."""
_MASSACRE_EVERY: Final = (60, 120)
"""After so many strikes one kills everyone at once, as a loss of power would."""
_PACES: Final = (_FREEZE_EVERY, _DRAIN_EVERY, _MASSACRE_EVERY)
_AGAIN: Final = 0.15
"""The share of kills that hit the same process again while it is still starting."""
_SPARED: Final = 0.9
"""The share of kills that spare the frozen: what they do when they wake is what we want to see."""

_KILL_WEIGHTS: Final = {
    **dict.fromkeys(WORKERS, 4),
    **dict.fromkeys(COURIERS, 4),
    **dict.fromkeys(PRODUCERS, 3),
    OPERATOR: 1,
}
_FREEZE_WEIGHTS: Final = {
    **dict.fromkeys(WORKERS, 6),
    **dict.fromkeys(COURIERS, 3),
    **dict.fromkeys(PRODUCERS, 1),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """At `at` seconds: SIGKILL and a new process `seconds` later, or SIGSTOP for `seconds`, or
    SIGTERM and a new process as soon as the drain is over.

    `instead` is hit where the script of `target` has already ended.
    """

    at: float
    kind: Literal["kill", "freeze", "drain"]
    target: str
    seconds: float
    instead: str


def faults(chance: random.Random, kills: int) -> Iterator[Fault]:
    """Faults in order of time, until `kills` of them are kills."""
    at, left = GAP, kills
    freeze, drain, massacre = (_Every(chance, *pace) for pace in _PACES)
    frozen: dict[str, float] = {}
    while left > 0:
        at += chance.uniform(0.2, 1.8) * GAP
        if freeze.now():
            fault = _freeze(chance, at)
            frozen[fault.target] = at + fault.seconds
            yield fault
        elif drain.now():
            yield Fault(at, "drain", chance.choice(WORKERS), 0.0, chance.choice(COURIERS))
        elif massacre.now():
            yield from (_kill(chance, at, name) for name in EVERYONE[:left])
            left -= len(EVERYONE)
        else:
            for fault in _kills(chance, at, {name for name in frozen if frozen[name] > at}, left):
                left, at = left - 1, fault.at
                yield fault


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


def _freeze(chance: random.Random, at: float) -> Fault:
    # Longer than the lease: it has expired when the process goes on as if nothing had been.
    seconds = chance.uniform(1.5, 3.0) * LEASE
    target = _one_of(chance, _FREEZE_WEIGHTS)
    return Fault(at, "freeze", target, seconds, chance.choice(WORKERS))


def _kills(chance: random.Random, at: float, frozen: Collection[str], left: int) -> Iterator[Fault]:
    spared = frozen if chance.random() < _SPARED else ()
    target = _one_of(chance, {k: v for k, v in _KILL_WEIGHTS.items() if k not in spared})
    fault = _kill(chance, at, target)
    yield fault
    if left > 1 and chance.random() < _AGAIN:
        yield _kill(chance, at + fault.seconds + chance.uniform(0.0, 0.06), target)


def _kill(chance: random.Random, at: float, target: str) -> Fault:
    return Fault(at, "kill", target, chance.uniform(0.0, 0.03), chance.choice(WORKERS))


def _one_of(chance: random.Random, weights: Mapping[str, int]) -> str:
    return chance.choices(list(weights), list(weights.values()))[0]
