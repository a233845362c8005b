"""Acts on everything that matches a filter, as durable work: any server goes on after a crash."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from ferryman.errors import InvalidFilter, NotFound, Unsupported
from ferryman.filter import Filter
from ferryman.ids import new_id
from ferryman.lifecycle import Act
from ferryman.queue.cell import read_cell
from ferryman.service.search import check_searchable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from ferryman.queue.answers import Cell
    from ferryman.queue.contract import Backend

BULK_CELLS: Final = "bulk/"
KEPT: Final = 7 * 86_400.0
"""Seconds for which one that has ended is kept."""
MOST_RUNNING: Final = 20

BulkState = Literal["running", "completed", "cancelled"]


class BulkNotFound(NotFound):
    """No bulk act has this id: never begun here, or over for a week."""

    def __init__(self, bulk_id: str) -> None:
        super().__init__(f"no bulk act {bulk_id!r}: never begun here, or over for a week")


@dataclass(frozen=True, slots=True)
class Before:
    """A job as it was before the act: enough to tell later whether the act was done to it."""

    id: str
    state: str
    generation: int


@dataclass(frozen=True, slots=True)
class BulkAct:
    """One act on many jobs. `matched` = `done` + `refused`, and grows while it runs.

    `held` are the jobs that are being acted on; they were written before, so that whoever goes on
    after a crash counts each of them once. `after` is where the walk goes on behind them. `owner`
    runs it until `owned_until`; after that anyone may.
    """

    id: str
    act: Act
    where: str
    by: str
    request_id: str
    started_at: float
    queues: tuple[str, ...] | None = None
    state: BulkState = "running"
    matched: int = 0
    done: int = 0
    refused: int = 0
    finished_at: float | None = None
    cancelling: bool = False
    held: tuple[Before, ...] = ()
    after: str | None = None
    walked: bool = False
    owner: str = ""
    owned_until: float = 0.0
    version: int = 0


class BulkActs:
    """The bulk acts of one store; `Unsupported` where it has no cells or cannot be browsed."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def begin(
        self,
        act: Act,
        where: str,
        *,
        by: str,
        request_id: str,
        queues: Collection[str] | None = None,
    ) -> BulkAct:
        """Record the act; a `BulkRunner` of any server does it."""
        self.check()
        parsed = Filter.parse(where)
        if not parsed.terms:
            raise InvalidFilter(
                "an empty filter would match every job: name at least one condition"
            )
        check_searchable(parsed)
        if sum(one.state == "running" for one in self.list()) >= MOST_RUNNING:
            raise InvalidFilter(f"{MOST_RUNNING} bulk acts are running: wait for one to end")
        bulk = BulkAct(
            id=new_id(),
            act=act,
            where=where,
            by=by,
            request_id=request_id,
            started_at=self._backend.clock.now(),
            queues=None if queues is None else tuple(sorted(queues)),
        )
        written = self.write(bulk)
        return written or bulk

    def list(self) -> Sequence[BulkAct]:
        """All that are known, newest first."""
        self.check()
        found = [_read(cell) for cell in self._backend.read_cells(BULK_CELLS)]
        return sorted(found, key=lambda one: one.id, reverse=True)

    def get(self, bulk_id: str) -> BulkAct:
        """One of them, or `BulkNotFound`."""
        self.check()
        cell = read_cell(self._backend, BULK_CELLS + bulk_id)
        if cell is None:
            raise BulkNotFound(bulk_id)
        return _read(cell)

    def cancel(self, bulk_id: str) -> BulkAct:
        """Ask it to stop; what was done stays done. One that has ended is left as it is."""
        return self.change(
            bulk_id,
            lambda one: None if one.state != "running" else replace(one, cancelling=True),
        )

    def change(self, bulk_id: str, step: Callable[[BulkAct], BulkAct | None]) -> BulkAct:
        """Replace it by what `step` makes of it (None: leave it); as it is then."""
        while True:
            found = self.get(bulk_id)
            changed = step(found)
            if changed is None:
                return found
            written = self.write(changed)
            if written is not None:
                return written

    def write(self, bulk: BulkAct) -> BulkAct | None:
        """Write it if nobody has since it was read; None if somebody has."""
        ttl = None if bulk.state == "running" else KEPT
        text = json.dumps({**asdict(bulk), "version": None}, separators=(",", ":"))
        cell = self._backend.write_cell(BULK_CELLS + bulk.id, text, expect=bulk.version, ttl=ttl)
        return None if cell is None else replace(bulk, version=cell.version)

    def check(self) -> None:
        """`Unsupported` unless the store has what this needs."""
        capabilities = self._backend.capabilities
        if not (capabilities.cells and capabilities.browse):
            raise Unsupported(
                f"{capabilities.backend} cannot list its jobs or has no cells, so there are no "
                "bulk acts: use SQS with a ledger, or another store"
            )


def _read(cell: Cell) -> BulkAct:
    found: dict[str, Any] = json.loads(cell.value)
    queues = found.pop("queues")
    return BulkAct(
        **{
            **found,
            "act": Act(found["act"]),
            "queues": None if queues is None else tuple(queues),
            "held": tuple(Before(**one) for one in found["held"]),
            "version": cell.version,
        }
    )
