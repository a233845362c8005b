"""How claims end: settled by their worker, given back after a lost reply, or reaped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ferryman.backends.memory.intake import accept
from ferryman.job import WAITING, JobError, State
from ferryman.lifecycle import GIVEN_BACK_TOO_OFTEN, WORKER_TIMED_OUT, Landing, Verdict, land
from ferryman.queue.settlement import Receipt, make_receipt
from ferryman.retry import Backoff

if TYPE_CHECKING:
    from ferryman.backends.memory.row import Row
    from ferryman.backends.memory.store import Store
    from ferryman.queue.settlement import Settlement

ACK, GIVE_BACK = Verdict.ACK, Verdict.GIVE_BACK
FAILED = State.FAILED


def settle(store: Store, settlement: Settlement, now: float) -> Receipt:
    """End a claim as its worker says, if it is still the current one."""
    row = store.rows.get(settlement.job_id)
    if row is None:
        return Receipt(settlement.job_id, False)
    fence, worker, verdict = settlement.fence, settlement.worker, settlement.verdict
    if not row.claimed_as(fence, worker):
        return make_receipt(row.id, row.ended_as(fence, worker, verdict), row.state)
    row.report(settlement.percent, settlement.note, settlement.logs)
    if settlement.error is not None:
        row.blame(settlement.error)
    if verdict is ACK:
        row.result = settlement.result
    landing = _end(store, row, verdict, settlement.delay, now)
    if landing.hands_over:
        for child in settlement.children:
            accept(store, child, now)
    return make_receipt(row.id, True, row.state)


def give_back(store: Store, row: Row, now: float) -> None:
    """End a claim whose poll reply was lost: it costs the job nothing."""
    _end(store, row, GIVE_BACK, None, now)


def expire(store: Store, row: Row, now: float) -> None:
    """End a claim whose lease ran out: charged, like every crash."""
    row.blame(JobError(row.attempts, now, row.worker, "lease", WORKER_TIMED_OUT))
    _end(store, row, Verdict.EXPIRE, None, now)


def _end(store: Store, row: Row, verdict: Verdict, delay: float | None, now: float) -> Landing:
    row.last_end = verdict
    row.last_fence = row.fence
    row.last_worker = row.worker
    landing = _COMPLETED if verdict is ACK and row.asked is None else _land(row, verdict)
    if landing.state in WAITING:
        row.ready_at = now + _delay(row, verdict, delay)
    if not landing.charged:
        if landing.state is FAILED:
            row.blame(JobError(row.attempts, now, row.worker, "given_back", GIVEN_BACK_TOO_OFTEN))
        row.attempts -= 1
        row.given_back += 1
    store.move(row, landing.state, now)
    return landing


def _delay(row: Row, verdict: Verdict, delay: float | None) -> float:
    if delay is not None:
        return delay
    return 0.0 if verdict is GIVE_BACK else Backoff.parse(row.message.backoff).delay(row.attempts)


def _land(row: Row, verdict: Verdict) -> Landing:
    return land(
        verdict,
        asked=row.asked,
        attempts=row.attempts,
        max_attempts=row.message.max_attempts,
        given_back=row.given_back,
    )


# How nearly every claim ends, whatever its job's numbers are.
_COMPLETED: Final = land(ACK, asked=None, attempts=1, max_attempts=1, given_back=0)
