"""Stores that keep a local mirror, and what one pass over it did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@runtime_checkable
class Mirrored(Protocol):
    """A backend whose local tree is brought up to date with the shared store, pass by pass."""

    def sync(self) -> Mapping[str, int | Sequence[str]]:
        """One pass now: what it did, by name; `unreadable` lists what could not be used."""
        ...

    def publish(self, node: str, status: Mapping[str, object]) -> None:
        """Write a node's status where every other node can read it."""
        ...
