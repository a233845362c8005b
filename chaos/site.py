"""A store that was laid out for one campaign: where each node opens it and who reads it at last."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from chaos.network import Network


class Server(Protocol):
    """What keeps the store, where that is a process of its own."""

    def stop(self, mode: Literal["immediate"]) -> None:
        """Crash."""

    def launch(self) -> None:
        """Come up again, which may take a while yet."""


@dataclass(frozen=True, slots=True)
class Remains:
    """What is left in the store's own terms: what is wrong, and second ends that it kept apart.

    `buried`: the jobs in its dead-letter queues. `met`: what befell requests on their way to it.
    """

    wrong: Sequence[str] = ()
    duplicates: Sequence[str] = ()
    buried: Sequence[str] = ()
    met: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Site:
    """`urls` by node ("" where there is but one), `judge` is the address that evidence is read at.

    `inspect` looks into what is left when every process is gone. `roots` are the folders that nodes
    can lose; `network` is their way to the store, where they have one that can be cut; `server`
    serves it, where there is one that can crash. `carry` is the body of a process that no fault
    hits, and that requests pass through; it is given the plan's seed.
    """

    urls: Mapping[str, str]
    judge: str
    inspect: Callable[[], Remains]
    roots: Mapping[str, Path] = field(default_factory=dict)
    network: Network | None = None
    server: Server | None = None
    carry: Callable[[int], int] | None = None
