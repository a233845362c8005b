"""Telling the workers, by way of SQS, which jobs of the ledger are there to be claimed."""

from __future__ import annotations

import logging
import time
from math import ceil
from typing import TYPE_CHECKING, Final

from ferryman.backends.sqs import notes
from ferryman.backends.sqs.calls import Outgoing
from ferryman.backends.sqs.names import Label
from ferryman.errors import BackendError, BackendUnavailable
from ferryman.queue.ledger import Notice

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ferryman.backends.sqs.agenda import Agenda
    from ferryman.backends.sqs.calls import Calls
    from ferryman.backends.sqs.queues import Queues
    from ferryman.message import Message
    from ferryman.queue.ledger import Ledger

log = logging.getLogger("ferryman.sqs")

_REST: Final = 5.0
# What we take for the ledger's time may be a little behind it, and SQS counts in whole seconds.
_SLACK: Final = 0.05


def is_early(notice: Notice, now: float) -> bool:
    """Whether the job is not due for a while yet."""
    return notice.ready_at > now + _SLACK


class Dispatch:
    """Sends notices. One too many is met by the ledger's refusal; one too few by its agenda.

    So the job's row is the commit, and a notice that cannot be sent is no reason to fail.
    """

    def __init__(
        self, calls: Calls, queues: Queues, ledger: Ledger, agenda: Agenda, hop: float
    ) -> None:
        self._calls = calls
        self._queues = queues
        self._ledger = ledger
        self._agenda = agenda
        self._hop = hop
        self._resting = 0.0

    def prepare(self, messages: Iterable[Message]) -> None:
        """See that their SQS queues are there, before a job is accepted that nobody hears of.

        During an outage of SQS it is accepted all the same, and found when that is over.
        """
        if time.monotonic() < self._resting:
            return
        try:
            for queue, label in {(one.queue, Label.of(one.priority)) for one in messages}:
                self._queues.place(queue, label)
        except BackendUnavailable as error:
            self._rest()
            log.warning("%s", error)

    def pushed(self, messages: Iterable[Message]) -> Sequence[Notice]:
        """The notices of messages that the ledger has just accepted."""
        now = self._ledger.clock.now()
        return [
            Notice(
                one.id,
                one.queue,
                one.priority,
                now + one.delay if one.ready_at is None else one.ready_at,
            )
            for one in messages
        ]

    def send(self, notices: Sequence[Notice]) -> None:
        """Send what can be sent; the rest goes to the agenda."""
        if not notices:
            return
        now = self._ledger.clock.now()
        errors = self._sent(notices, now)
        failed = [error for error in errors if error is not None]
        self._agenda.add(
            notice
            for notice, error in zip(notices, errors, strict=True)
            if error is not None or notice.ready_at > now
        )
        if failed:
            log.warning(
                "%d of %d notices were not sent (%s); the jobs are in the ledger and are found "
                "there",
                len(failed),
                len(notices),
                failed[0],
            )

    def _sent(self, notices: Sequence[Notice], now: float) -> Sequence[Exception | None]:
        if time.monotonic() < self._resting:
            return [BackendUnavailable("SQS did not answer a moment ago")] * len(notices)
        try:
            errors = self._calls.send([self._outgoing(notice, now) for notice in notices])
        except BackendError as error:
            errors = [error] * len(notices)
        if errors and all(isinstance(error, BackendUnavailable) for error in errors):
            self._rest()
        return errors

    def _rest(self) -> None:
        """A server that does not answer must not slow down every push."""
        self._resting = time.monotonic() + _REST

    def _outgoing(self, notice: Notice, now: float) -> Outgoing:
        place = self._queues.place(notice.queue, Label.of(notice.priority))
        # Rounded up: at its end the job is due, or another hop is sent.
        delay = ceil(min(self._hop, notice.ready_at - now)) if is_early(notice, now) else 0
        return Outgoing(place, notes.write(notice.id), delay)
