"""The breakers, rates and permits of a store, from the cells in which workers share them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ferryman.errors import NameNotFound, TaskError
from ferryman.flow.breakers import BREAKER_CELLS
from ferryman.flow.circuit import Circuit
from ferryman.flow.permits import PERMIT_CELLS
from ferryman.flow.rates import RATE_CELLS
from ferryman.flow.shared import read_document
from ferryman.flow.tally import Tally
from ferryman.tasks.limits import Quota

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferryman.flow.circuit import Phase
    from ferryman.queue.answers import Cell


class BreakerNotFound(NameNotFound):
    """No breaker of this name has seen a failure in this store."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        problem = f"no breaker {name!r} has seen a failure in this store"
        super().__init__(problem, name, known, "`ferryman breakers list` shows them all")


@dataclass(frozen=True, slots=True)
class BreakerRow:
    """A breaker that has seen a failure; until then none is written."""

    name: str
    phase: Phase
    failures: int
    probes: int
    until: float | None
    changed_at: float | None
    problem: str | None

    @classmethod
    def read(cls, cell: Cell, now: float) -> BreakerRow:
        circuit = Circuit.read(read_document(cell.value))
        return cls(
            name=cell.key.removeprefix(BREAKER_CELLS),
            phase=circuit.phase(now),
            failures=circuit.failures,
            probes=sum(lost_at > now for lost_at in circuit.running.values()),
            until=circuit.until,
            changed_at=circuit.changed_at,
            problem=circuit.problem,
        )


@dataclass(frozen=True, slots=True)
class RateRow:
    """One quota of a rate: what is spent of it, and when the rate gives its next grant."""

    name: str
    quota: str
    zone: str
    spent: int
    left: int
    free_at: float

    @classmethod
    def read(cls, cell: Cell, now: float) -> list[RateRow]:
        """A row for each quota; what cannot be read is left out."""
        document = read_document(cell.value)
        zone = _zone(document.get("zone"))
        quotas = tuple(quota for text in document if (quota := _quota(text)) is not None)
        tally = Tally(quotas, zone)
        free_at = tally.free_at(document, now) if quotas else now
        lefts = [(quota, tally.left(document, quota, now)) for quota in quotas]
        name = cell.key.removeprefix(RATE_CELLS)
        return [
            cls(name, str(quota), zone.key, quota.count - left, left, free_at)
            for quota, left in lefts
        ]


@dataclass(frozen=True, slots=True)
class PermitRow:
    """How many leases of a task or queue live now, by worker, and how many may."""

    name: str
    limit: int
    holders: Mapping[str, int]

    @classmethod
    def read(cls, cell: Cell, now: float) -> PermitRow:
        document = read_document(cell.value)
        holders = document.get("holders", {})
        held = {worker: number for worker, (number, until) in holders.items() if until > now}
        return cls(cell.key.removeprefix(PERMIT_CELLS), int(document.get("limit", 0)), held)


def _zone(name: object) -> ZoneInfo:
    """The zone that the rate's declarer had; one that this machine lacks is shown as UTC."""
    try:
        return ZoneInfo(str(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def _quota(text: str) -> Quota | None:
    try:
        return Quota.parse(text)
    except TaskError:
        return None
