"""The workers of a store, from the rows that they keep there about themselves."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ferryman.worker.known import Hold
from ferryman.worker.upkeep import WORKER_CELLS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferryman.queue.answers import Cell


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """One worker as it described itself at `heartbeat_at`; None is what it did not say.

    `stale`: it has missed three of its own updates, so it is dead, stopped or cut off. `skew`: by
    how many seconds the store's clock is ahead of its machine's. `hears`: whether its store tells
    it of pushes; None where no store would. `tasks` are those it knows, with their versions, and
    `holds` what jobs of `task:…` or `queue:…` have to pass.
    """

    id: str
    stale: bool
    host: str | None = None
    pid: int | None = None
    version: str | None = None
    queues: Mapping[str, int] = field(default_factory=dict)
    running: int | None = None
    started_at: float | None = None
    heartbeat_at: float | None = None
    lease: float | None = None
    skew: float | None = None
    hears: bool | None = None
    tasks: Mapping[str, int] | None = None
    holds: Mapping[str, Hold] = field(default_factory=dict)

    @classmethod
    def read(cls, cell: Cell, now: float) -> WorkerRow:
        """A row of this or another version of Ferryman; what cannot be read is left out."""
        row = _object(cell.value)
        heartbeat_at, lease = _number(row, "heartbeat_at"), _number(row, "lease")
        return cls(
            id=cell.key.removeprefix(WORKER_CELLS),
            stale=heartbeat_at is None or now - heartbeat_at > max(3.0, lease or 0.0),
            host=_text(row, "host"),
            pid=_whole(row, "pid"),
            version=_text(row, "version"),
            queues=_numbers(row, "queues") or {},
            running=_whole(row, "running"),
            started_at=_number(row, "started_at"),
            heartbeat_at=heartbeat_at,
            lease=lease,
            skew=_number(row, "skew"),
            hears=row.get("hears") if isinstance(row.get("hears"), bool) else None,
            tasks=_numbers(row, "tasks"),
            holds=_holds(row),
        )


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _text(row: Mapping[str, Any], name: str) -> str | None:
    value = row.get(name)
    return value if isinstance(value, str) else None


def _number(row: Mapping[str, Any], name: str) -> float | None:
    value = row.get(name)
    return float(value) if isinstance(value, int | float) else None


def _whole(row: Mapping[str, Any], name: str) -> int | None:
    value = row.get(name)
    return value if isinstance(value, int) else None


def _numbers(row: Mapping[str, Any], name: str) -> dict[str, int] | None:
    value = row.get(name)
    if not isinstance(value, dict):
        return None
    return {str(key): number for key, number in value.items() if isinstance(number, int)}


def _holds(row: Mapping[str, Any]) -> dict[str, Hold]:
    value = row.get("holds")
    items = value.items() if isinstance(value, dict) else ()
    return {str(owner): Hold.read(one) for owner, one in items}
