"""Schedules, breakers, rates and permits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferryman.service.presentation.values import moment, shown_json, shown_text

if TYPE_CHECKING:
    from ferryman.flow.timetable import Entry
    from ferryman.service.limits import BreakerRow, PermitRow, RateRow


def schedule(entry: Entry, now: float) -> dict[str, Any]:
    """`last` is the latest slot that is settled, `next` the one to come, null while paused."""
    what = entry.schedule
    return {
        "schedule": what.name,
        "paused": entry.paused,
        "cron": what.slots.cron,
        "every": what.slots.every,
        "tz": what.slots.tz,
        "missed": what.missed,
        "task": what.message.task,
        "queue": what.message.queue,
        "payload": shown_json(what.message.body),
        "last": moment(entry.last),
        "next": moment(entry.next(now)),
    }


def breaker(row: BreakerRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "state": str(row.phase),
        "failures": row.failures,
        "probes": row.probes,
        "until": moment(row.until),
        "changed_at": moment(row.changed_at),
        "problem": shown_text(row.problem),
    }


def rate(row: RateRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "quota": row.quota,
        "zone": row.zone,
        "spent": row.spent,
        "left": row.left,
        "free_at": moment(row.free_at),
    }


def permit(row: PermitRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "limit": row.limit,
        "live": sum(row.holders.values()),
        "holders": dict(row.holders),
    }
