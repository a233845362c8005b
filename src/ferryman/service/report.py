"""A store at one moment as a page that needs nothing else: no server, no network, no script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ferryman.errors import BackendError, Unsupported
from ferryman.job import State
from ferryman.service import presentation
from ferryman.service.checks.chart import span
from ferryman.service.doctor import examine
from ferryman.service.failures import failures
from ferryman.service.insights import Insights
from ferryman.service.page import page, section, table, tiles
from ferryman.telemetry.escape import without_credentials

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ferryman.queue.contract import Backend

NEWEST: Final = 50

Row = tuple[object, ...]


def report(backend: Backend, store: str) -> str:
    """The whole page as HTML; `store` is its title, a URL without its password.

    Payloads and results are not in it. A part that the store cannot tell says so.
    """
    insights = Insights(backend)
    seen = presentation.overview(insights.overview())
    parts = [
        tiles({"ready": sum(one["ready"] for one in seen["queues"]), **_counts(seen)}),
        section("Queues", table(_QUEUES, [_queue(one) for one in seen["queues"]])),
        section("Failures", _failures(backend, insights)),
        section("Workers", _part(_WORKERS, lambda: _workers(insights))),
        section("Schedules", _part(_SCHEDULES, lambda: _schedules(insights))),
        section("Breakers", _part(_BREAKERS, lambda: _breakers(insights))),
        section("Health", table(_FINDINGS, [_finding(one) for one in examine(backend)])),
        section("Newest jobs", _part(_JOBS, lambda: _jobs(insights))),
    ]
    if seen["set_aside"]:
        rows = [(one["queue"], one["path"], one["reason"], one["at"]) for one in seen["set_aside"]]
        parts.append(section("Set aside", table(("queue", "path", "reason", "at"), rows)))
    return page(f"Ferryman: {store}", f"{seen['backend']} · {seen['at']}", parts)


_QUEUES: Final = ("queue", "", "ready", "oldest ready", "scheduled", *map(str, State))
_FAILURES: Final = ("count", "task", "error", "queues", "last", "sample", "filter")
_WORKERS: Final = ("worker", "", "host", "pid", "version", "running", "queues", "last seen")
_SCHEDULES: Final = ("schedule", "", "when", "task", "queue", "last", "next")
_BREAKERS: Final = ("breaker", "state", "failures", "until", "problem")
_FINDINGS: Final = ("", "check", "what", "fix")
_JOBS: Final = ("id", "queue", "task", "state", "attempts", "pushed", "finished", "error")


def _counts(seen: Mapping[str, Any]) -> Mapping[str, int]:
    states: Mapping[str, int] = seen["states"]
    return {"scheduled": seen["scheduled"], **states}


def _queue(one: Mapping[str, Any]) -> Row:
    oldest = one["oldest_ready"]
    return (
        one["queue"],
        "paused" if one["paused"] else "",
        one["ready"],
        "" if oldest is None else span(oldest),
        one["scheduled"],
        *one["states"].values(),
    )


def _failures(backend: Backend, insights: Insights) -> str:
    def rows() -> Sequence[Row]:
        found = presentation.failures(failures(backend, insights))
        groups: Sequence[Mapping[str, Any]] = found["groups"]
        shown: list[Row] = [
            (
                group["count"],
                group["task"],
                group["text"],
                ", ".join(group["queues"]),
                group["last_at"],
                group["sample"],
                without_credentials(group["where"]),
            )
            for group in groups
        ]
        if not found["complete"]:
            shown.append(("…", "", f"only {found['scanned']:,} failed jobs were looked at"))
        return shown

    return _part(_FAILURES, rows)


def _workers(insights: Insights) -> Sequence[Row]:
    rows = [presentation.worker(row) for row in insights.workers()]
    return [
        (
            row["id"],
            "stale" if row["stale"] else "",
            row["host"],
            row["pid"],
            row["version"],
            row["running"],
            ", ".join(f"{queue}: {slots}" for queue, slots in row["queues"].items()),
            row["heartbeat_at"],
        )
        for row in rows
    ]


def _schedules(insights: Insights) -> Sequence[Row]:
    now = insights.now()
    rows = [presentation.schedule(entry, now) for entry in insights.schedules()]
    return [
        (
            row["schedule"],
            "paused" if row["paused"] else "",
            f"{row['cron']} {row['tz']}" if row["cron"] else f"every {row['every']} s",
            row["task"],
            row["queue"],
            row["last"],
            row["next"],
        )
        for row in rows
    ]


def _breakers(insights: Insights) -> Sequence[Row]:
    rows = [presentation.breaker(row) for row in insights.breakers()]
    return [
        tuple(row[k] for k in ("name", "state", "failures", "until", "problem")) for row in rows
    ]


def _finding(one: Any) -> Row:
    shown = presentation.finding(one)
    return (shown["severity"], shown["check"], shown["what"], shown["fix"])


def _jobs(insights: Insights) -> Sequence[Row]:
    jobs = [presentation.job_summary(job) for job in insights.jobs(limit=NEWEST).jobs]
    return [
        (
            job["id"],
            job["queue"],
            job["task"],
            job["state"],
            f"{job['attempts']}/{job['max_attempts']}",
            job["created_at"],
            job["finished_at"],
            job["error"],
        )
        for job in jobs
    ]


def _part(headings: Sequence[str], rows: Callable[[], Sequence[Row]]) -> str:
    """A table, or why this store has none."""
    try:
        return table(headings, rows())
    except (Unsupported, BackendError) as error:
        return table((), [], empty=without_credentials(str(error)))
