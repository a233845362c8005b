"""How claims end: the landing by `lifecycle`, then the one write that makes it so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.files.document import history_text
from ferryman.backends.files.hints import announce
from ferryman.backends.files.moments import not_before
from ferryman.backends.files.removal import mark_paused
from ferryman.job import JobError, State
from ferryman.lifecycle import GIVEN_BACK_TOO_OFTEN, WORKER_TIMED_OUT, Landing, Verdict, land
from ferryman.queue.settlement import mark
from ferryman.retry import Backoff

if TYPE_CHECKING:
    from ferryman.backends.files.place import Held
    from ferryman.backends.files.row import Row
    from ferryman.backends.files.store import Store
    from ferryman.queue.settlement import Settlement


def settle(row: Row, settlement: Settlement, now: float) -> Landing:
    """Let a worker's settlement change its row."""
    row.report(settlement.percent, settlement.note, settlement.logs)
    if settlement.error is not None:
        row.blame(settlement.error)
    if settlement.verdict is Verdict.ACK:
        row.result = settlement.result
    row.settled = settlement.mark
    landing = _end(row, settlement.verdict, settlement.delay, now)
    if landing.hands_over:
        row.children = settlement.children
    return landing


def give_back(row: Row, now: float) -> None:
    """End a claim whose poll reply was lost: it costs the job nothing."""
    row.settled = mark(row.fence, row.worker, Verdict.GIVE_BACK)
    _end(row, Verdict.GIVE_BACK, None, now)


def expire(row: Row, now: float) -> None:
    """End a claim whose lease ran out: charged, like every crash."""
    row.blame(JobError(row.attempts, now, row.worker, "lease", WORKER_TIMED_OUT))
    row.settled = mark(row.fence, row.worker, Verdict.EXPIRE)
    _end(row, Verdict.EXPIRE, None, now)


def end(row: Row, state: State, now: float) -> None:
    """Give a row its next state; the lease, if it had one, is over."""
    row.state = state
    row.heartbeat_at = row.expires_at = row.asked = None
    if state.terminal:
        row.finished_at = now
    else:
        row.worker = None


def return_to_queue(store: Store, place: Held, row: Row, now: float) -> None:
    """Make a locked job pending or paused: the history that ends its claim is the commit."""
    if row.state is State.PAUSED:
        mark_paused(store, place, True)
    # The hint first: whoever follows it too early finds the lock held, and comes again.
    announce(store, place.folders, row, now)
    store.commit()
    row.own_facts = True
    store.put_in(place, "history.json", history_text(row), sync=True)
    store.disk.unlink("lease.json", place.lock)
    store.disk.unlink("ask.json", place.lock)


def _end(row: Row, verdict: Verdict, delay: float | None, now: float) -> Landing:
    landing = land(
        verdict,
        asked=row.asked,
        attempts=row.attempts,
        max_attempts=row.max_attempts,
        given_back=row.given_back,
    )
    if not landing.state.terminal:
        row.ready_at = not_before(now + _delay(row, verdict, delay))
    if not landing.charged:
        if landing.state is State.FAILED:
            row.blame(JobError(row.attempts, now, row.worker, "given_back", GIVEN_BACK_TOO_OFTEN))
        row.attempts -= 1
        row.given_back += 1
    end(row, landing.state, now)
    return landing


def _delay(row: Row, verdict: Verdict, delay: float | None) -> float:
    if delay is not None:
        return delay
    return 0.0 if verdict is Verdict.GIVE_BACK else Backoff.parse(row.backoff).delay(row.attempts)
