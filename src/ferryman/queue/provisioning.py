"""Stores whose queues are things of their own, which somebody has to make and pay for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


@runtime_checkable
class Provisioned(Protocol):
    """A backend that makes what a queue needs when it is told to."""

    def provision(self, queues: Collection[str]) -> Sequence[str]:
        """Make what these queues need where it is missing; the names of all of it."""
        ...
