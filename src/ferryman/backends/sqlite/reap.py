"""reap: what nobody holds any more, or nobody needs any more, is ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.sql.claim import Claim
from ferryman.backends.sqlite.counts import SCHEDULED
from ferryman.backends.sqlite.known import Known
from ferryman.backends.sqlite.landing import add_error, land_claim
from ferryman.job import JobError, State
from ferryman.lifecycle import EXPIRED, WORKER_TIMED_OUT, Verdict
from ferryman.queue.answers import Reaped

if TYPE_CHECKING:
    from ferryman.backends.sqlite.transaction import Transaction


def reap(tx: Transaction, limit: int) -> list[Reaped]:
    """End expired leases and cancel waiting jobs past their deadline, `limit` of each."""
    values = {"now": tx.now, "limit": limit}
    claims = tx.run("expired_leases", values).fetchall()
    jobs = tx.run("expired_jobs", values).fetchall()
    return [
        *(_end_lease(tx, Claim._make(claim)) for claim in claims),
        *(_cancel(tx, Known._make(job)) for job in jobs),
    ]


def _end_lease(tx: Transaction, claim: Claim) -> Reaped:
    error = JobError(claim.attempts, tx.now, claim.worker, "lease", WORKER_TIMED_OUT)
    landing = land_claim(tx, claim, claim.ended(Verdict.EXPIRE, error))
    return Reaped(claim.id, claim.queue, claim.task, landing.state, claim.worker)


def _cancel(tx: Transaction, job: Known) -> Reaped:
    tx.run("cancel", {"seq": job.seq, "now": tx.now})
    tx.tally.move(job.queue, job.state, State.CANCELLED)
    tx.tally.add(job.queue, SCHEDULED, -job.scheduled)
    add_error(tx, job.seq, JobError(job.attempts, tx.now, None, "expired", EXPIRED))
    return Reaped(job.id, job.queue, job.task, State.CANCELLED, None)
