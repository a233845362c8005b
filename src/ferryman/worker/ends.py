"""Tells what became of a claim, once the store has answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.job import State
from ferryman.lifecycle import Verdict

if TYPE_CHECKING:
    from ferryman.events import Events
    from ferryman.queue.settlement import Receipt, Settlement
    from ferryman.worker.claim import Claim

_EVENTS = {
    State.COMPLETED: "job.completed",
    State.FAILED: "job.failed",
    State.CANCELLED: "job.cancelled",
    State.PAUSED: "job.paused",
}


def tell_end(
    events: Events, worker: str, claim: Claim, settlement: Settlement, receipt: Receipt
) -> None:
    """Emit `job.completed` and its kin; of an end that was refused, `job.stale` and `job.lost`."""
    if not receipt.applied:
        events.emit("job.stale", job=claim.job, worker=worker)
        if not claim.told_lost:
            events.emit("job.lost", job=claim.job, worker=worker)
        return
    name = _EVENTS.get(receipt.state or State.PENDING)
    if name is None:
        name = "job.retried" if settlement.verdict is Verdict.NACK else "job.returned"
    if events.wanted(name):
        events.emit(
            name,
            job=claim.job,
            state=receipt.state,
            error=settlement.error,
            delay=settlement.delay,
            worker=worker,
            seconds=claim.seconds,
        )
