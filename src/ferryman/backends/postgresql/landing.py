"""The end of one claim, as `lifecycle.land` decides it: for settle, reap and lost claims alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.postgresql.transaction import storable
from ferryman.backends.sql.claim import given_back_too_often
from ferryman.backends.sql.claim import ready_at as next_ready_at
from ferryman.job import WAITING, State
from ferryman.lifecycle import MAX_LOG_LINES, Landing, Verdict, land

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.postgresql.transaction import Transaction
    from ferryman.backends.sql.claim import Claim
    from ferryman.job import JobError, LogLine
    from ferryman.queue.settlement import Settlement


def land_claim(tx: Transaction, claim: Claim, settlement: Settlement) -> Landing:
    """Write where a claim leaves its job; the caller holds the job's row and has checked it."""
    landing = land(
        settlement.verdict,
        asked=claim.asked,
        attempts=claim.attempts,
        max_attempts=claim.max_attempts,
        given_back=claim.given_back,
    )
    returned = 0 if landing.charged else 1
    ready_at = next_ready_at(tx.now, claim, settlement) if landing.state in WAITING else None
    errors = [] if settlement.error is None else [settlement.error]
    if settlement.verdict is Verdict.GIVE_BACK and landing.state is State.FAILED:
        errors.append(given_back_too_often(tx.now, claim))
    tx.run(
        "land",
        {
            "seq": claim.seq,
            "state": landing.state,
            "scheduled": landing.state is State.PENDING and (ready_at or 0) > tx.now,
            "ready_at": ready_at,
            "finished_at": tx.now if landing.state.terminal else None,
            "attempts": claim.attempts - returned,
            "given_back": claim.given_back + returned,
            "settled": storable(settlement.mark),
            "result": settlement.result if settlement.verdict is Verdict.ACK else None,
            "percent": settlement.percent,
            "note": storable(settlement.note),
            "error": storable(errors[-1].text) if errors else None,
        },
    )
    add_errors(tx, claim.seq, errors)
    add_logs(tx, claim.seq, settlement.logs)
    if landing.state.terminal:
        tx.run("bury", {"seq": claim.seq})
    elif landing.state is State.PENDING:
        tx.awakens.add(claim.queue)
    return landing


def add_errors(tx: Transaction, seq: int, errors: Sequence[JobError]) -> None:
    """Keep errors of a job, oldest first; which is its `error` is left to the caller."""
    for error in errors:
        tx.run("add_error", _error_row(seq, error))


def add_logs(tx: Transaction, seq: int, lines: Sequence[LogLine]) -> None:
    """Append to a job's log, which keeps its newest lines."""
    if lines:
        texts = [storable(line.text) for line in lines]
        tx.run("add_logs", {"seq": seq, "at": [line.at for line in lines], "texts": texts})
        tx.run("trim_logs", {"seq": seq, "keep": MAX_LOG_LINES})


def _error_row(seq: int, error: JobError) -> tuple[object, ...]:
    texts = (storable(text) for text in (error.worker, error.kind, error.text, error.traceback))
    return seq, error.attempt, error.at, *texts
