"""What a move or a copy did, and what it tells on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Left:
    """A job that stays where it was, and why; or the path of what is no job, as its `id`."""

    id: str
    queue: str
    why: str


@dataclass(frozen=True, slots=True)
class Carried:
    """The end of a move or a copy.

    `carried` jobs are at the target now, `existing` of them were there before with as much history
    or more. `left` ones match the filter and are only at the source.
    """

    carried: int
    existing: int
    left: Sequence[Left] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """News: so many jobs were `found`, are `waited` for because they run, or were `carried`."""

    kind: Literal["found", "waiting", "carried"]
    jobs: int


Tell = Callable[[Step], None]


def say_nothing(_: Step) -> None:
    """For callers who only want the end."""
