"""A campaign's verdict: a table for people, and a line in `results.json` for the record."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from chaos.columns import columns_for
from chaos.rules import rules_for
from ferryman import State

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from chaos.campaign import Outcome
    from chaos.checker import Finding
    from chaos.evidence import Evidence

_TOLD: Final = 3
"""How many jobs of one kind of finding are told in full."""


@dataclass(frozen=True, slots=True)
class Report:
    """One campaign, checked. A column counts jobs, however many findings each of them has."""

    backend: str
    seed: int
    outcome: Outcome
    columns: Mapping[str, Sequence[Finding]]
    others: Mapping[str, Sequence[Finding]]

    @classmethod
    def of(cls, backend: str, outcome: Outcome) -> Report:
        evidence = outcome.evidence
        rules = rules_for(evidence.terms).items()
        return cls(
            backend,
            evidence.plan.seed,
            outcome,
            {name: list(rule(evidence)) for name, rule in columns_for(evidence.terms).items()},
            {name: found for name, rule in rules if (found := list(rule(evidence)))},
        )

    @property
    def clean(self) -> bool:
        return not self.others and not any(self._broken.values())

    @property
    def _broken(self) -> Mapping[str, Sequence[Finding]]:
        """The columns that must be empty; where a job may end twice, that is only counted."""
        dropped = "finished_twice" if self.outcome.evidence.terms.may_end_twice else ""
        return {name: found for name, found in self.columns.items() if name != dropped}

    def row(self) -> dict[str, Any]:
        """The line for `results.json`."""
        return {
            "backend": self.backend,
            "kills": self.outcome.strikes.kills,
            "pushed": len({pushed.id for pushed in self.outcome.evidence.pushed}),
            **{name: len({one.id for one in found}) for name, found in self.columns.items()},
            "seed": self.seed,
        }

    def lines(self) -> Iterator[str]:
        """The table, what happened, and every kind of finding with its first stories."""
        yield from table([self.row()])
        yield ""
        yield from self._happened()
        for name, found in {**self._broken, **self.others}.items():
            yield from self._told(name, found)

    def _happened(self) -> Iterator[str]:
        evidence, outcome = self.outcome.evidence, self.outcome
        states = Counter(job.state for job in evidence.jobs.values())
        starts = sum(map(len, evidence.started.values()))
        reaps = sum(map(len, evidence.reaped.values()))
        yield (
            f"{outcome.seconds:.0f} s with {outcome.strikes.kills} kills, "
            f"{outcome.strikes.freezes} freezes and {outcome.strikes.drains} drains"
        )
        if evidence.plan.cast.crashes:
            yield f"server    {outcome.strikes.crashes} times crashed and started again"
        if outcome.met:
            yield f"requests  {_listed(outcome.met)}"
        if evidence.plan.cast.nodes:
            yield (
                f"nodes     {outcome.strikes.cuts} times cut off, {evidence.plan.falls} times "
                f"dead, {outcome.strikes.wipes} of them with their folder gone"
            )
        if evidence.terms.relaxed:
            yield (
                f"twice     {self.row()['finished_twice']} jobs ended more than once, "
                f"the store kept a second end of {len(evidence.duplicates)}"
            )
        if evidence.terms.at_least_once:
            yield (
                f"twice     {self.row()['finished_twice']} jobs ran to their end more than once, "
                f"{len(evidence.buried)} are in dead-letter queues"
            )
        if states:
            yield f"jobs      {_listed({state: states[state] for state in State if states[state]})}"
        yield f"starts    {starts}, of which {starts - len(evidence.started)} were repeated runs"
        yield (
            f"leases    {reaps} reaped, {len(evidence.refused)} stale claims were told so, "
            f"{_too_late(evidence)} handlers began after another claim"
        )
        yield f"failed    {_unstarted(evidence)} by lost leases alone, before any handler began"
        yield f"pushes    {self._unknown()} had an unknown outcome when their producer was killed"
        yield f"operator  {_listed(Counter(act.verb for act in evidence.acted))}"

    def _unknown(self) -> int:
        evidence = self.outcome.evidence
        steps = Counter((tried.producer, tried.step) for tried in evidence.tried)
        acknowledged = {pushed.token.rpartition(".")[0] for pushed in evidence.pushed}
        repeated = sum(n - 1 for n in steps.values())
        given_up = sum(f"{producer}.{step}" not in acknowledged for producer, step in steps)
        return repeated + given_up

    def _told(self, name: str, found: Sequence[Finding]) -> Iterator[str]:
        by_job: defaultdict[str, list[str]] = defaultdict(list)
        for finding in found:
            by_job[finding.id].append(finding.text)
        if found:
            yield f"\n{name}: {len(found)} findings, {len(by_job)} jobs"
        for job_id, texts in list(by_job.items())[:_TOLD]:
            yield from (f"  {job_id or self.backend}: {text}" for text in texts[:_TOLD])
            yield from (f"      {line}" for line in self._story(job_id))

    def _story(self, job_id: str) -> Sequence[str]:
        job = self.outcome.evidence.jobs.get(job_id)
        return [*self.outcome.story(job_id), f"in the store: {job}"] if job_id else []


def table(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Rows of `results.json` for people."""
    texts = [list(rows[0]), *([str(value) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    for text in texts:
        yield "  ".join(value.rjust(width) for value, width in zip(text, widths, strict=True))


def write_result(path: Path, row: Mapping[str, Any]) -> None:
    """Put a campaign's line in place of the last one of the same backend."""
    rows = json.loads(path.read_text()) if path.exists() else []
    kept = [one for one in rows if one["backend"] != row["backend"]]
    lines = ",\n".join(f"  {json.dumps(one)}" for one in [*kept, row])
    path.write_text(f"[\n{lines}\n]\n")


def _listed(counts: Mapping[Any, int]) -> str:
    return ", ".join(f"{n} {name}" for name, n in counts.items()) or "none"


def _too_late(evidence: Evidence) -> int:
    """Handlers that a frozen worker began when the job had already been claimed again.

    Not a broken promise, since the lease had expired, but wasted work.
    """
    return sum(
        one.at > two.claimed_at
        for starts in evidence.started.values()
        for one, two in pairwise(starts)
    )


def _unstarted(evidence: Evidence) -> int:
    """Jobs whose every claim died with its worker before a handler began."""
    failed = (job for job in evidence.jobs.values() if job.state is State.FAILED)
    return sum(job.id not in evidence.started for job in failed)
