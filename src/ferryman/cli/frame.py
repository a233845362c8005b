"""One picture of a store, as lines: what `ferryman top` shows at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferryman.cli.output import painted, table_lines
from ferryman.cli.tables import span, worker_lines
from ferryman.job import State
from ferryman.service.presentation import moment
from ferryman.service.redaction import redacted_text
from ferryman.telemetry.escape import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferryman.service.insights import Overview
    from ferryman.service.ticker import Tick

_STATES = (State.PROCESSING, State.PAUSED, State.FAILED, State.COMPLETED)


def frame(tick: Tick, title: str, room: int | None = None) -> list[str]:
    """The whole picture; in `room` lines, if that is given, each of its three parts cut to fit."""
    at = "" if tick.seen is None else f" at {moment(tick.seen.at)}"
    lines = [f"{one_line(title)}{at}"]
    if tick.outage is not None:
        said = f"no answer for {span(tick.out_for)}: {tick.outage}"
        lines.append(f"{painted('problem')}: {one_line(said)}")
    lines.append("")
    if tick.seen is None:
        return lines
    parts = [_queues(tick, tick.seen), _workers(tick.seen), _failures(tick, tick.seen)]
    each = None if room is None else max(3, (room - len(lines)) // len(parts) - 1)
    for part in parts:
        lines += [*_cut(part, each), ""]
    return lines[:-1]


def facts(tick: Tick) -> Mapping[str, Any]:
    """The picture in one line of figures."""
    if tick.seen is None:
        return {"outage": tick.outage}
    totals = tick.seen.totals
    alive = [row for row in tick.seen.workers or () if not row.stale]
    found: dict[str, Any] = {
        "ready": totals[State.PENDING] - tick.seen.scheduled,
        "scheduled": tick.seen.scheduled,
        **{str(state): totals[state] for state in _STATES},
        "rate": _rate(tick.rate),
        "workers": len(alive),
        "running": sum(row.running or 0 for row in alive),
    }
    return found if tick.outage is None else {**found, "outage": tick.outage}


def _queues(tick: Tick, seen: Overview) -> list[str]:
    if not seen.queues:
        return ["no jobs"]
    return table_lines(
        ("QUEUE", "", "READY", "SCHEDULED", *(state.upper() for state in _STATES), "PER SECOND"),
        [
            (
                queue.queue,
                "paused" if queue.paused else "",
                queue.ready,
                queue.scheduled,
                *(queue.states.get(state, 0) for state in _STATES),
                _rate(tick.rates.get(queue.queue)),
            )
            for queue in seen.queues
        ],
    )


def _workers(seen: Overview) -> list[str]:
    if seen.workers is None:
        return ["this store keeps no rows about workers"]
    return worker_lines(seen.workers, seen.at) if seen.workers else ["no workers"]


def _failures(tick: Tick, seen: Overview) -> list[str]:
    if not tick.failures:
        return ["no failures"]
    return table_lines(
        ("FAILED", "AGO", "TASK", "ERROR"),
        [
            (
                job.id,
                span(seen.at - (job.finished_at or seen.at)),
                job.task,
                next(iter(redacted_text(job.error or "").strip().splitlines()), ""),
            )
            for job in tick.failures
        ],
    )


def _cut(lines: Sequence[str], room: int | None) -> Sequence[str]:
    if room is None or len(lines) <= room:
        return lines
    return [*lines[: room - 1], f"… and {len(lines) - room + 1} more"]


def _rate(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.1f}"
