"""Who takes part in a campaign, on which node, and how fast things happen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

OPERATOR: Final = "operator"
CARRIER: Final = "carrier"
"""The process that requests pass through; no fault hits it."""

SWIFT: Final = "swift"
ROUGH: Final = "rough"
HANDOFF: Final = "handoff"
SLOTS: Final = {SWIFT: 3, ROUGH: 3}
"""What a worker takes; the jobs of `handoff` are for the couriers."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds, but for `steps`, which each producer takes in a second.

    `lease` is short, so that a campaign sees many leases expire. `gap` is the mean time between two
    faults. `stretch` makes delays, deadlines and the operator's pauses so many times longer.
    `calm` without an unfinished job ends a campaign, `standstill` without a change gives it up.
    `tidying` is how long the store may take after that to put away what the dead left half done.
    `nap` is how long couriers now and then hold their jobs without a heartbeat, before they settle:
    where requests are slow and jobs short, a process that freezes by chance seldom has one in hand.
    """

    lease: float = 0.6
    gap: float = 0.15
    steps: float = 30
    stretch: float = 1.0
    poll_every: float = 0.5
    reap_every: float = 0.1
    drain: float = 0.4
    calm: float = 0.5
    standstill: float = 15.0
    look_every: float = 0.1
    tidying: float = 0.0
    nap: float = 0.0


_BRISK: Final = Pace()


@dataclass(frozen=True, slots=True)
class Cast:
    """The members by what they do. On a fleet a member's name ends with its node: `worker-0@a`."""

    workers: tuple[str, ...]
    couriers: tuple[str, ...]
    producers: tuple[str, ...]
    operator: str
    supervisors: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    pace: Pace = _BRISK
    wiped: bool = False
    """Whether a node may lose its folder with its processes."""
    crashes: bool = False
    """Whether the store's server crashes now and then."""
    plain: bool = False
    """Whether messages ask only for what needs no record of jobs, and no operator acts on them."""

    @property
    def everyone(self) -> tuple[str, ...]:
        served = (*self.workers, *self.couriers, *self.supervisors)
        return (*served, *self.producers, self.operator)

    def on(self, node: str) -> tuple[str, ...]:
        """The members of one node."""
        return tuple(name for name in self.everyone if node_of(name) == node)


def node_of(name: str) -> str:
    """The node of a member; "" where there is but one machine."""
    return name.partition("@")[2]


def _each(nodes: tuple[str, ...], role: str, count: int) -> tuple[str, ...]:
    return tuple(f"{role}-{number}@{node}" for number in range(count) for node in nodes)


HOUSE: Final = Cast(
    workers=tuple(f"worker-{number}" for number in range(10)),
    couriers=tuple(f"courier-{number}" for number in range(3)),
    producers=("producer-0", "producer-1"),
    operator=OPERATOR,
)
"""Sixteen processes of one machine."""

SERVED: Final = replace(
    HOUSE, crashes=True, pace=replace(_BRISK, lease=1.5, gap=0.25, steps=15, standstill=30.0)
)
"""The same with a server, which takes a moment to come up again; leases outlive that."""

CLOUD: Final = replace(HOUSE, pace=replace(_BRISK, lease=3.0, gap=0.3, steps=8, standstill=30.0))
"""The same with a service that takes its time; messages that the dead hold are hidden meanwhile."""

ALONE: Final = replace(CLOUD, plain=True, pace=replace(CLOUD.pace, standstill=60.0, calm=3.0))
"""The same where leases are whole seconds, and what a dead process had received comes back after
thirty of them."""

_NODES: Final = ("a", "b", "c")

FLEET: Final = Cast(
    workers=_each(_NODES, "worker", 3),
    couriers=_each(_NODES, "courier", 1),
    producers=_each(_NODES, "producer", 1),
    supervisors=_each(_NODES, "supervisor", 1),
    operator=f"{OPERATOR}@a",
    nodes=_NODES,
    pace=Pace(
        lease=5.0,
        gap=0.4,
        steps=0.9,
        stretch=3.0,
        poll_every=1.0,
        reap_every=2.0,
        drain=1.0,
        calm=3.0,
        standstill=25.0,
        look_every=2.0,
        tidying=20.0,
        nap=10.0,
    ),
)
"""Nineteen processes of three machines, which share a bucket. A request takes milliseconds, so the
lease is longer; what the dead left half done is completed by others after ten seconds."""
