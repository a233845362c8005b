"""heartbeat: claims are prolonged, and lost ones given back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.sql.claim import Claim
from ferryman.backends.sql.rows import can_exist, storable
from ferryman.backends.sqlite.landing import add_logs, land_claim
from ferryman.lifecycle import Verdict
from ferryman.queue.heartbeat import Pulse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.sqlite.transaction import Transaction
    from ferryman.queue.heartbeat import Beat


def heartbeat(
    tx: Transaction, worker: str, beats: Sequence[Beat], *, lease: float, answered: int
) -> list[Pulse]:
    """One pulse for each beat, in order."""
    pulses = [_beat(tx, worker, beat, lease) for beat in beats]
    _give_back_lost(tx, worker, {(beat.job_id, beat.fence) for beat in beats}, answered)
    return pulses


def _beat(tx: Transaction, worker: str, beat: Beat, lease: float) -> Pulse:
    if not can_exist(beat.job_id):
        return Pulse(beat.job_id, beat.fence, held=False)
    held = tx.run(
        "heartbeat",
        {
            "id": beat.job_id,
            "fence": beat.fence,
            "worker": worker,
            "now": tx.now,
            "expires_at": tx.now + lease,
            "percent": beat.percent,
            "note": storable(beat.note),
            "checkpoint": beat.checkpoint,
        },
    ).fetchall()
    if not held:
        return Pulse(beat.job_id, beat.fence, held=False)
    ((seq, asked),) = held
    add_logs(tx, seq, beat.logs)
    return Pulse(beat.job_id, beat.fence, held=True, asked=asked)


def _give_back_lost(
    tx: Transaction, worker: str, listed: set[tuple[str, int]], answered: int
) -> None:
    rows = tx.run("claims_of", {"worker": worker, "turn": answered}).fetchall()
    for claim in map(Claim._make, rows):
        if (claim.id, claim.fence) not in listed:
            land_claim(tx, claim, claim.ended(Verdict.GIVE_BACK))
