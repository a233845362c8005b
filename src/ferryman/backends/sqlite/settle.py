"""settle: claims end, and their children follow in the same commit."""

from __future__ import annotations

from collections import Counter
from itertools import compress
from typing import TYPE_CHECKING

from ferryman.backends.sql.claim import Claim
from ferryman.backends.sql.rows import STATES, can_exist
from ferryman.backends.sqlite.landing import land_claim
from ferryman.backends.sqlite.push import push
from ferryman.job import State
from ferryman.lifecycle import Verdict
from ferryman.queue.settlement import Receipt, make_receipt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.sqlite.transaction import Transaction
    from ferryman.queue.settlement import Settlement


def settle(tx: Transaction, settlements: Sequence[Settlement]) -> list[Receipt]:
    """One receipt for each settlement, in order."""
    plain = _first_acks(settlements)
    acks = list(compress(settlements, plain))
    mixed = 0 < len(acks) < len(settlements)
    done = mixed and ack_all(tx, acks)
    return [
        make_receipt(one.job_id, True, State.COMPLETED) if done and ack else _settle(tx, one)
        for one, ack in zip(settlements, plain, strict=True)
    ]


def completed(settlements: Sequence[Settlement]) -> list[Receipt]:
    """The receipts of acks that were all applied."""
    return [make_receipt(one.job_id, True, State.COMPLETED) for one in settlements]


def _first_acks(settlements: Sequence[Settlement]) -> list[bool]:
    """Which are plain acks and the first of their job: a second has to see what that one did."""
    firsts: list[bool] = []
    seen: set[str] = set()
    for one in settlements:
        firsts.append(is_plain_ack(one) and one.job_id not in seen)
        seen.add(one.job_id)
    return firsts


def is_plain_ack(settlement: Settlement) -> bool:
    """Whether it says nothing but a result."""
    return (
        settlement.verdict is Verdict.ACK
        and not settlement.children
        and not settlement.logs
        and settlement.error is None
        and settlement.percent is None
        and settlement.note is None
        and can_exist(settlement.job_id)
        and can_exist(settlement.worker)
    )


def ack_all(tx: Transaction, acks: Sequence[Settlement]) -> bool:
    """Complete all of them in one go, or change nothing if any claim is not as it should be."""
    now = tx.now
    tx.savepoint()
    ends = [(a.result or "", now, a.job_id, a.fence, a.worker, a.queue) for a in acks]
    done = tx.run_many("ack", ends)
    if done < len(acks):
        tx.back_to_savepoint()
        return False
    for queue, n in Counter(ack.queue for ack in acks).items():
        tx.tally.move(queue, State.PROCESSING, State.COMPLETED, n)
    return True


def _settle(tx: Transaction, settlement: Settlement) -> Receipt:
    job_id = settlement.job_id
    row = tx.run("claim", {"id": job_id}).fetchone() if can_exist(job_id) else None
    if row is None:
        return Receipt(settlement.job_id, False)
    claim = Claim._make(row)
    current = (claim.fence, claim.worker) == (settlement.fence, settlement.worker)
    if current and claim.state == State.PROCESSING:
        landing = land_claim(tx, claim, settlement)
        if landing.hands_over and settlement.children:
            # Children that exist are the same work done before; their ids are derived.
            push(tx, settlement.children)
        return Receipt(settlement.job_id, True, landing.state)
    return Receipt(settlement.job_id, claim.settled == settlement.mark, STATES[claim.state])
