"""Failed jobs, grouped by what went wrong: the same error with other numbers is the same error."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ferryman.service.redaction import redacted_text
from ferryman.service.search import Search

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.job import Job
    from ferryman.queue.contract import Backend
    from ferryman.service.insights import Insights

MOST_GROUPS: Final = 100
BUDGET: Final = 0.2
"""Seconds after which no further jobs are looked at: a page that people open waits for them."""
LOOK: Final = 1_000
"""Jobs that are looked at in one go: a page that stays open asks again and again."""

# What differs between two cases of one error: numbers, ids, quoted values, addresses, paths.
_VARYING: Final = re.compile(
    r"""0x[0-9a-fA-F]+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|"[^"\n]{0,500}"|'[^'\n]{0,500}'"""
    r"""|\b[0-9a-fA-F]{12,}\b|/[^\s:,;()]+|\d+|\*\*\*"""
)
_KIND: Final = re.compile(r"([A-Za-z_][\w.]{0,200})(?::|$)")
_LONGEST: Final = 500
_FEWEST_LETTERS: Final = 4
_MOST_PARTS: Final = 3


@dataclass(slots=True)
class FailureGroup:
    """Failed jobs of one task with one error. `sample` is the job that failed last.

    `where` is a filter that finds them.
    """

    fingerprint: str
    task: str
    kind: str
    text: str
    where: str
    sample: str
    count: int = 0
    queues: set[str] = field(default_factory=set)
    first_at: float = float("inf")
    last_at: float = 0.0

    def add(self, job: Job) -> None:
        at = job.finished_at or job.created_at
        self.count += 1
        self.queues.add(job.queue)
        self.first_at = min(self.first_at, at)
        if at >= self.last_at:
            self.last_at, self.sample = at, job.id


@dataclass(frozen=True, slots=True)
class Failures:
    """Groups, the largest first. Not `complete`: the time was up after `scanned` jobs."""

    groups: Sequence[FailureGroup]
    scanned: int
    complete: bool


def failures(backend: Backend, insights: Insights, since: float | None = None) -> Failures:
    """What has failed; of the last `since` seconds only, if given."""
    recent = "" if since is None else f" finished:<{since:.3f}s"
    groups: dict[str, FailureGroup] = {}
    scanned = 0
    where = insights.filter(f"state:failed{recent}")
    for jobs, timely in Search(backend).walk(where, BUDGET, LOOK):
        for job in jobs:
            scanned += 1
            print_ = fingerprint(job)
            if print_ not in groups:
                groups[print_] = _group(print_, job)
            groups[print_].add(job)
        if not timely:
            return Failures(_largest(groups), scanned, complete=False)
    return Failures(_largest(groups), scanned, complete=True)


def fingerprint(job: Job) -> str:
    """The same for two jobs of a task whose errors differ only in values."""
    plain = "\0".join((job.task, *_fixed_parts(job.error or "")))
    return hashlib.sha256(plain.encode(errors="replace")).hexdigest()[:16]


def _group(print_: str, job: Job) -> FailureGroup:
    # Cut afterwards: half a URL no longer tells that a password is in it.
    text = redacted_text(job.error or "no reason was recorded")[:_LONGEST]
    kind = _KIND.match(text)
    return FailureGroup(
        fingerprint=print_,
        task=job.task,
        kind=kind[1] if kind else "",
        text=text,
        where=_where(job),
        sample=job.id,
    )


def _where(job: Job) -> str:
    parts = [part.strip() for part in _fixed_parts(job.error or "")]
    telling = sorted((part for part in parts if len(part) >= _FEWEST_LETTERS), key=len)
    chosen = telling[-_MOST_PARTS:]
    terms = [f"task:{_quoted(job.task)}", *(f"error:{_quoted(part[:200])}" for part in chosen)]
    return " ".join(["state:failed", *terms])


def _fixed_parts(text: str) -> list[str]:
    # Only the first line: what follows are notes and details of the case. Secrets are details too.
    return _VARYING.split(redacted_text(text.partition("\n")[0])[:_LONGEST])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _largest(groups: dict[str, FailureGroup]) -> Sequence[FailureGroup]:
    ordered = sorted(groups.values(), key=lambda group: (-group.count, -group.last_at))
    return ordered[:MOST_GROUPS]
