"""settle: claims end, and their children follow in the same commit."""

from __future__ import annotations

from collections import defaultdict
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ferryman.backends.postgresql.landing import land_claim
from ferryman.backends.postgresql.push import lock_keys, push
from ferryman.backends.postgresql.transaction import can_exist
from ferryman.backends.sql.claim import Claim
from ferryman.backends.sql.rows import STATES
from ferryman.job import State
from ferryman.lifecycle import Verdict
from ferryman.queue.settlement import Receipt, make_receipt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ferryman.backends.postgresql.transaction import Transaction
    from ferryman.message import Message
    from ferryman.queue.settlement import Settlement


def settle(tx: Transaction, settlements: Sequence[Settlement]) -> list[Receipt]:
    """One receipt for each settlement, in order."""
    lock_keys(tx, [(c.queue, c.key) for s in settlements for c in s.children if c.key is not None])
    acks = _first_acks(settlements)
    done: set[int] = set()
    for worker, several in acks.items():
        missed = {job_id for (job_id,) in tx.rows("ack", ends(several.values(), worker, tx.now))}
        done |= {place for place, ack in several.items() if ack.job_id not in missed}
    children = [child for place in sorted(done) for child in settlements[place].children]
    if children:
        push(tx, children)
    others = [one for place, one in enumerate(settlements) if place not in done]
    receipts = iter(_settle_all(tx, others))
    return [
        make_receipt(one.job_id, True, State.COMPLETED) if place in done else next(receipts)
        for place, one in enumerate(settlements)
    ]


def only_acks(settlements: Sequence[Settlement]) -> bool:
    """Whether one statement does it: no two of the same job, all by one worker, no children."""
    first = settlements[0].worker
    alike = all(is_ack(one) and not one.children and one.worker == first for one in settlements)
    return alike and len({one.job_id for one in settlements}) == len(settlements)


def _first_acks(settlements: Sequence[Settlement]) -> Mapping[str, Mapping[int, Settlement]]:
    """By worker and place: the first of each job, because a second has to see what it did."""
    seen: set[str] = set()
    acks: defaultdict[str, dict[int, Settlement]] = defaultdict(dict)
    for place, one in enumerate(settlements):
        if one.job_id not in seen and is_ack(one):
            acks[one.worker][place] = one
        seen.add(one.job_id)
    return acks


def is_ack(settlement: Settlement) -> bool:
    """Whether it only completes its job: with children perhaps, but nothing else to tell."""
    return (
        settlement.verdict is Verdict.ACK
        and not settlement.logs
        and settlement.error is None
        and settlement.percent is None
        and settlement.note is None
        and can_exist(settlement.job_id)
        and can_exist(settlement.worker)
        and "\n" not in settlement.job_id
    )


def ends(acks: Iterable[Settlement], worker: str, now: float | None) -> Mapping[str, Any]:
    """The values of ack.sql; in the order in which every batch takes its rows."""
    ordered = sorted(acks, key=attrgetter("job_id"))
    results = [ack.result for ack in ordered]
    return {
        "ids": "\n".join([ack.job_id for ack in ordered]),
        "fences": "\n".join([str(ack.fence) for ack in ordered]),
        "worker": worker,
        "results": results if any(result is not None for result in results) else None,
        "now": now,
    }


def _settle_all(tx: Transaction, settlements: Sequence[Settlement]) -> list[Receipt]:
    """One read for all of them, and one round trip for all that they write."""
    ids = sorted({one.job_id for one in settlements if can_exist(one.job_id)})
    if len(ids) < 2:
        return [_settle(tx, one) for one in settlements]
    claims = {row[1]: Claim._make(row) for row in tx.rows("claims", {"ids": ids})}
    landed: list[Receipt | None] = []
    children: list[Message] = []
    with tx.pipelined():
        for one in settlements:
            # Taken out: a second end of the same job has to see what the first one did.
            claim = claims.pop(one.job_id, None)
            if claim is not None and _is_current(claim, one):
                landing = land_claim(tx, claim, one)
                children += one.children if landing.hands_over else ()
                landed.append(Receipt(one.job_id, True, landing.state))
            else:
                landed.append(None)
    if children:
        push(tx, children)
    return [receipt or _settle(tx, one) for one, receipt in zip(settlements, landed, strict=True)]


def _settle(tx: Transaction, settlement: Settlement) -> Receipt:
    claim = _claim(tx, settlement.job_id)
    if claim is None:
        return Receipt(settlement.job_id, False)
    if _is_current(claim, settlement):
        with tx.pipelined():
            landing = land_claim(tx, claim, settlement)
        if landing.hands_over and settlement.children:
            # Children that exist are the same work done before; their ids are derived.
            push(tx, settlement.children)
        return Receipt(settlement.job_id, True, landing.state)
    return Receipt(settlement.job_id, claim.settled == settlement.mark, STATES[claim.state])


def _is_current(claim: Claim, settlement: Settlement) -> bool:
    fence = (settlement.fence, settlement.worker)
    return (claim.fence, claim.worker) == fence and claim.state == State.PROCESSING


def _claim(tx: Transaction, job_id: str) -> Claim | None:
    if not can_exist(job_id):
        return None
    # Third, unfinished again: between the two looks an operator may have retried it.
    for place in ("claim", "ended", "claim"):
        if (row := tx.row(place, {"id": job_id})) is not None:
            return Claim._make(row)
    return None
