"""heartbeat: claims are prolonged, and lost ones given back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ferryman.backends.postgresql.landing import add_logs, land_claim
from ferryman.backends.postgresql.transaction import can_exist, storable
from ferryman.backends.sql.claim import Claim
from ferryman.lifecycle import Verdict
from ferryman.queue.heartbeat import Pulse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.postgresql.transaction import Transaction
    from ferryman.job import Ask
    from ferryman.queue.heartbeat import Beat

MOST: Final = 100
"""Jobs in one statement."""


def heartbeat(
    tx: Transaction, worker: str, beats: Sequence[Beat], *, lease: float, answered: int
) -> list[Pulse]:
    """One pulse for each beat, in order."""
    held: dict[tuple[str, int], Ask | None] = {}
    for several in _apart(beats):
        held |= _beat(tx, worker, several, lease)
    if answered >= 0:
        _give_back_lost(tx, worker, {(beat.job_id, beat.fence) for beat in beats}, answered)
    claims = [(beat.job_id, beat.fence) for beat in beats]
    return [Pulse(*claim, held=claim in held, asked=held.get(claim)) for claim in claims]


def _apart(beats: Sequence[Beat]) -> Sequence[Sequence[Beat]]:
    """Batches with each job at most once: one statement changes a row once.

    None is long: each of a batch looks for its own values among all.
    """
    batches: list[dict[str, Beat]] = []
    for beat in beats:
        free = next((one for one in batches if len(one) < MOST and beat.job_id not in one), None)
        if free is None:
            batches.append(free := {})
        free[beat.job_id] = beat
    return [list(batch.values()) for batch in batches]


def _beat(
    tx: Transaction, worker: str, beats: Sequence[Beat], lease: float
) -> dict[tuple[str, int], Ask | None]:
    # In the order in which every batch takes its rows.
    ordered = sorted((b for b in beats if can_exist(b.job_id)), key=lambda beat: beat.job_id)
    values = {
        "worker": worker,
        "now": tx.now,
        "expires_at": tx.now + lease,
        "ids": [beat.job_id for beat in ordered],
        "fences": [beat.fence for beat in ordered],
        "percents": [beat.percent for beat in ordered],
        "notes": [storable(beat.note) for beat in ordered],
        "checkpoints": [beat.checkpoint for beat in ordered],
    }
    rows = {
        (job_id, fence): (seq, asked) for job_id, fence, seq, asked in tx.rows("heartbeat", values)
    }
    for beat in beats:
        if beat.logs and (row := rows.get((beat.job_id, beat.fence))) is not None:
            add_logs(tx, row[0], beat.logs)
    return {claim: asked for claim, (_, asked) in rows.items()}


def _give_back_lost(
    tx: Transaction, worker: str, listed: set[tuple[str, int]], answered: int
) -> None:
    rows = tx.rows("claims_of", {"worker": worker, "turn": answered})
    lost = [claim for claim in map(Claim._make, rows) if (claim.id, claim.fence) not in listed]
    if lost:
        with tx.pipelined():
            for claim in lost:
                land_claim(tx, claim, claim.ended(Verdict.GIVE_BACK))
