"""settle without a ledger: a message is deleted, shown again later, or moved to the failed ones."""

from __future__ import annotations

from dataclasses import asdict, replace
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from ferryman.backends.sqs.calls import LONGEST_HOLD, Outgoing
from ferryman.backends.sqs.errors import StaleHandle
from ferryman.backends.sqs.sending import LIMIT
from ferryman.job import JobError, State
from ferryman.lifecycle import Verdict, land
from ferryman.queue.settlement import Receipt
from ferryman.retry import Backoff

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.sqs.bodies import Bodies
    from ferryman.backends.sqs.calls import Calls, Delivery
    from ferryman.backends.sqs.envelope import Envelope
    from ferryman.backends.sqs.held import Claim, Held
    from ferryman.backends.sqs.queues import Queues
    from ferryman.backends.sqs.sending import Sending
    from ferryman.queue.settlement import Settlement


class End(NamedTuple):
    """A claim that ends, and where its job goes."""

    settlement: Settlement
    claim: Claim
    state: State


class Ending:
    """Ends claims. What is sent is sent before the message goes: rather twice than never."""

    def __init__(
        self,
        calls: Calls,
        queues: Queues,
        held: Held,
        sending: Sending,
        *,
        bodies: Bodies | None,
    ) -> None:
        self._calls = calls
        self._queues = queues
        self._held = held
        self._sending = sending
        self._bodies = bodies

    def settle(self, settlements: Sequence[Settlement]) -> Sequence[Receipt]:
        """One receipt for each, in order."""
        ends: dict[str, End] = {}
        for one in settlements:
            claim = self._held.find(one.job_id, one.fence, one.worker)
            if claim is not None:
                ends.setdefault(one.job_id, End(one, claim, _land(claim, one)))
        self._send_what_follows(list(ends.values()))
        lost = self._carry_out(list(ends.values()))
        return [self._receipt(one, lost) for one in settlements]

    def bury(self, envelope: Envelope, delivery: Delivery, error: JobError | None) -> None:
        """Move a message to the failed ones."""
        self._send_to_grave(envelope, delivery, error)
        self._calls.delete([delivery])

    def postpone(self, opened: Sequence[tuple[Envelope, Delivery]], seconds: int) -> None:
        """Send messages anew for later: to have been received must not be charged to them."""
        if not opened:
            return
        outgoing = [
            Outgoing(
                one.place,
                replace(envelope, attempts=envelope.attempts + one.count - 1).write(),
                seconds,
            )
            for envelope, one in opened
        ]
        errors = self._calls.send(outgoing)
        self._calls.delete(
            [one for (_, one), error in zip(opened, errors, strict=True) if error is None]
        )

    def forget(self, done: Sequence[tuple[Envelope, Delivery]]) -> Sequence[Exception | None]:
        """Delete messages, and the bodies that only they knew of."""
        errors = self._calls.delete([delivery for _, delivery in done])
        if self._bodies is not None:
            for (envelope, _), error in zip(done, errors, strict=True):
                if error is None and envelope.stored is not None:
                    self._bodies.delete(envelope.stored)
        return errors

    def _send_what_follows(self, ends: Sequence[End]) -> None:
        done = [end for end in ends if end.state is State.COMPLETED]
        self._sending.send([child for end in done for child in end.settlement.children])
        for end in ends:
            if end.state is State.FAILED:
                self._send_to_grave(end.claim.envelope, end.claim.delivery, end.settlement.error)

    def _carry_out(self, ends: Sequence[End]) -> set[str]:
        """Tell SQS; the jobs whose message is no longer ours."""
        back = [end for end in ends if end.state is State.PENDING]
        gone = [end for end in ends if end.state in (State.COMPLETED, State.CANCELLED)]
        # Their bodies stay: the failed ones refer to them.
        buried = [end for end in ends if end.state is State.FAILED]
        errors = [
            *self._calls.hide([end.claim.delivery for end in back], [_delay(end) for end in back]),
            *self.forget([(end.claim.envelope, end.claim.delivery) for end in gone]),
            *self._calls.delete([end.claim.delivery for end in buried]),
        ]
        lost, failures = set(), []
        for end, error in zip([*back, *gone, *buried], errors, strict=True):
            if error is None:
                self._held.end(end.claim, end.settlement, end.state)
            elif isinstance(error, StaleHandle):
                self._held.drop(end.claim)
                lost.add(end.settlement.job_id)
            else:
                failures.append(error)
        if failures:
            raise failures[0]
        return lost

    def _receipt(self, settlement: Settlement, lost: set[str]) -> Receipt:
        state = None if settlement.job_id in lost else self._held.ended(settlement)
        return Receipt(settlement.job_id, state is not None, state)

    def _send_to_grave(
        self, envelope: Envelope, delivery: Delivery, error: JobError | None
    ) -> None:
        attempts = envelope.attempts + delivery.count
        for told in (error, error and replace(error, traceback=None, text=error.text[:500]), None):
            said = {"error": asdict(told)} if told else {}
            text = envelope.write(queue=delivery.queue, attempts=attempts, **said)
            # A payload that just fitted leaves no room for the story of its failure.
            if len(text) <= LIMIT:
                break
        place = self._queues.grave(delivery.queue)
        [failure] = self._calls.send([Outgoing(place, text)])
        if failure is not None:
            raise failure


def _land(claim: Claim, settlement: Settlement) -> State:
    return land(
        settlement.verdict,
        asked=None,
        attempts=claim.fence,
        max_attempts=claim.envelope.max_attempts,
        given_back=0,
    ).state


def _delay(end: End) -> int:
    if end.settlement.delay is not None:
        seconds = end.settlement.delay
    elif end.settlement.verdict is Verdict.GIVE_BACK:
        seconds = 0.0
    else:
        seconds = Backoff.parse(end.claim.envelope.backoff).delay(end.claim.fence)
    return min(LONGEST_HOLD, ceil(seconds))
