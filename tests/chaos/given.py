"""Evidence by hand: one job that was pushed, run once and completed, and changes to that."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from chaos.cast import HOUSE
from chaos.evidence import Evidence, Holdings
from chaos.plan import Plan
from chaos.records import Ended, Pushed, Record, Started
from chaos.script import Planned, Push
from chaos.terms import STERN, Terms

from ferryman import Job, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NOW = 1_000.0


def a_job(job_id: str = "a", **changes: Any) -> Job:
    fields: dict[str, Any] = {
        "id": job_id,
        "queue": "swift",
        "task": "brief",
        "body": json.dumps({"token": job_id, "seconds": 0.0, "children": 2}),
        "state": State.COMPLETED,
        "priority": 0,
        "ready_at": NOW,
        "seq": 1,
        "version": 1,
        "attempts": 1,
        "max_attempts": 3,
        "fence": 1,
        "generation": 1,
        "given_back": 0,
        "created_at": NOW,
        "finished_at": NOW + 1,
        **changes,
    }
    seal = json.dumps({"fence": fields["fence"], "generation": fields["generation"]})
    return Job(**{"result": seal, **fields})


def pushed(job_id: str = "a", earliest: float = NOW) -> Pushed:
    return Pushed(0, job_id, job_id, earliest)


def started(fence: int = 1, job_id: str = "a", **changes: Any) -> Started:
    fields: dict[str, Any] = {
        "id": job_id,
        "fence": fence,
        "generation": 1,
        "attempts": fence,
        "given_back": 0,
        "ready_at": NOW,
        "claimed_at": NOW + fence,
        "at": NOW + fence,
        "worker": f"w{fence}",
        "queue": "swift",
        "checkpoint": 0,
        "node": "",
        **changes,
    }
    return Started(**fields)


def ended(fence: int = 1, state: str = "completed", **changes: Any) -> Ended:
    fields: dict[str, Any] = {"id": "a", "fence": fence, "generation": 1, "state": state}
    return Ended(**{**fields, "delay": None, "node": "", **changes})


def evidence(
    records: Iterable[Record],
    *jobs: Job,
    counted: Counter[tuple[str, str]] | None = None,
    troubles: Sequence[str] = (),
    planned: Sequence[Planned] = (),
    duplicates: Sequence[str] = (),
    buried: Sequence[str] = (),
    terms: Terms = STERN,
) -> Evidence:
    tokens = planned or [Planned(token, "brief", "swift", {}, 3) for token in ("a", "b")]
    plan = Plan(1, 1, HOUSE, {"p": (Push(0.0, tuple(tokens), repeat=False),)}, (), ())
    recounted = Counter((job.queue, str(job.state)) for job in jobs)
    holdings = Holdings({job.id: job for job in jobs}, counted or recounted, recounted)
    return Evidence.of(
        plan, records, holdings, troubles, duplicates=duplicates, buried=buried, terms=terms
    )
