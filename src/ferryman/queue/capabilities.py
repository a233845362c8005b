"""What a backend can and cannot hold, as data: nothing is silently weaker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The promises a backend keeps. A call that needs a missing one raises `Unsupported`."""

    backend: str
    durable: bool
    """Accepted jobs survive the death of every process and loss of power."""
    shared: bool
    """Several processes can work on one store."""
    order: Literal["strict", "strict per claim", "windowed", "by label"]
    """How exactly priority, ready_at and push order are followed."""
    transactional_push: bool
    """`push(connection=…)` and `job.ack(connection=…)` join the caller's transaction."""
    fenced: bool = True
    """A worker whose lease is lost cannot record anything."""
    max_delay: float | None = None
    """The longest delay in seconds; None is no limit of its own."""
    browse: bool = True
    """`get`, `list` and the operator's verbs on single jobs."""
    exact_counts: bool = True
    """`snapshot` is exact at the moment of the call."""
    exact_capacity: bool = False
    """A capacity is never exceeded; else by at most the pushes that are under way at once."""
    tenants: bool = False
    """Jobs of different tenants in one queue take turns."""
    served: bool = False
    """A server does the work: a call mostly waits, and this process can run jobs meanwhile."""
    cells: bool = True
    """Compare-and-set cells: breakers, rates, schedules and worker rows."""
