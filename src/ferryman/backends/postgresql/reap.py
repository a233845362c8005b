"""reap: what nobody holds any more, or nobody needs any more, is ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.postgresql.known import Known
from ferryman.backends.postgresql.landing import add_errors, land_claim
from ferryman.backends.sql.claim import Claim
from ferryman.job import JobError, State
from ferryman.lifecycle import EXPIRED, WORKER_TIMED_OUT, Verdict
from ferryman.queue.answers import Reaped

if TYPE_CHECKING:
    from ferryman.backends.postgresql.transaction import Transaction


def reap(tx: Transaction, limit: int) -> list[Reaped]:
    """End expired leases and cancel waiting jobs past their deadline, `limit` of each.

    What another transaction holds is left to it: it is being settled, beaten or reaped.
    """
    values = {"now": tx.now, "limit": limit}
    claims = tx.rows("expired_leases", values)
    jobs = tx.rows("expired_jobs", values)
    with tx.pipelined():
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
    tx.run("last_error", {"seq": job.seq, "text": EXPIRED})
    add_errors(tx, job.seq, [JobError(job.attempts, tx.now, None, "expired", EXPIRED)])
    tx.run("bury", {"seq": job.seq})
    return Reaped(job.id, job.queue, job.task, State.CANCELLED, None)
