"""The end of one claim, as `lifecycle.land` decides it: for settle, reap and lost claims alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.sql.claim import given_back_too_often
from ferryman.backends.sql.claim import ready_at as next_ready_at
from ferryman.backends.sql.rows import storable
from ferryman.backends.sqlite.counts import SCHEDULED
from ferryman.job import WAITING, State
from ferryman.lifecycle import MAX_LOG_LINES, Landing, Verdict, land

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.sql.claim import Claim
    from ferryman.backends.sqlite.transaction import Transaction
    from ferryman.job import JobError, LogLine
    from ferryman.queue.settlement import Settlement


def land_claim(tx: Transaction, claim: Claim, settlement: Settlement) -> Landing:
    """Write where a claim leaves its job; the caller has checked that it is the current one."""
    landing = land(
        settlement.verdict,
        asked=claim.asked,
        attempts=claim.attempts,
        max_attempts=claim.max_attempts,
        given_back=claim.given_back,
    )
    returned = 0 if landing.charged else 1
    ready_at = next_ready_at(tx.now, claim, settlement) if landing.state in WAITING else None
    scheduled = landing.state is State.PENDING and ready_at is not None and ready_at > tx.now
    tx.run(
        "land",
        {
            "seq": claim.seq,
            "state": landing.state,
            "scheduled": scheduled,
            "ready_at": ready_at,
            "finished_at": tx.now if landing.state.terminal else None,
            "attempts": claim.attempts - returned,
            "given_back": claim.given_back + returned,
            "settled": settlement.mark,
            "result": settlement.result if settlement.verdict is Verdict.ACK else None,
            "percent": settlement.percent,
            "note": storable(settlement.note),
        },
    )
    tx.tally.move(claim.queue, State.PROCESSING, landing.state)
    if scheduled:
        tx.tally.add(claim.queue, SCHEDULED)
    if settlement.error is not None:
        add_error(tx, claim.seq, settlement.error)
    if settlement.verdict is Verdict.GIVE_BACK and landing.state is State.FAILED:
        add_error(tx, claim.seq, given_back_too_often(tx.now, claim))
    add_logs(tx, claim.seq, settlement.logs)
    return landing


def add_error(tx: Transaction, seq: int, error: JobError) -> None:
    """Append to a job's errors."""
    add_errors(tx, seq, [error])
    tx.run("last_error", {"seq": seq, "text": storable(error.text)})


def add_errors(tx: Transaction, seq: int, errors: Sequence[JobError]) -> None:
    """Keep errors of a job, oldest first; which is its `error` is left to the caller."""
    if errors:
        tx.run_many("add_error", [_error_row(seq, error) for error in errors])


def add_logs(tx: Transaction, seq: int, lines: Sequence[LogLine]) -> None:
    """Append to a job's log, which keeps its newest lines."""
    if lines:
        tx.run_many("add_log", [(seq, line.at, storable(line.text)) for line in lines])
        tx.run("trim_logs", {"seq": seq, "keep": MAX_LOG_LINES})


def _error_row(seq: int, error: JobError) -> tuple[object, ...]:
    texts = (storable(text) for text in (error.worker, error.kind, error.text, error.traceback))
    return seq, error.attempt, error.at, *texts
