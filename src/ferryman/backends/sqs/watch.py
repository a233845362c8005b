"""wait with a ledger: asleep until SQS, this process or the ledger's calendar says otherwise."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

from ferryman.backends.bell import Bell, Ear

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ferryman.backends.sqs.agenda import Agenda
    from ferryman.backends.sqs.calls import Delivery
    from ferryman.backends.sqs.inbox import Inbox
    from ferryman.backends.sqs.listening import Listening
    from ferryman.backends.sqs.sifting import Sifting
    from ferryman.queue.ledger import Ledger


class Watch:
    """Wakes by the messages that arrive, by a bell for this process's acts, and by the agenda."""

    def __init__(self, ledger: Ledger, inbox: Inbox, agenda: Agenda, sifting: Sifting) -> None:
        self._ledger = ledger
        self._sifting = sifting
        self._inbox = inbox
        self._agenda = agenda
        self._bell = Bell()
        self._wakes = 0
        self._acts: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()
        self._chances: Counter[str] = Counter()

    def ring(self, queues: Iterable[str]) -> None:
        """This process may have made something claimable in these queues."""
        for queue in set(queues):
            self._acts[queue] += 1
            self._chances[queue] = 0
        self._bell.ring()

    def polled(self, queues: Iterable[str]) -> None:
        """A poll of these has had its chance to find what this process did."""
        self._chances.update(queues)

    def heard(self, delivery: Delivery) -> None:
        """A message has arrived."""
        self._inbox.put([delivery])
        self._bell.ring()

    def wake(self) -> None:
        """End every `wait` that is under way in this process."""
        self._wakes += 1
        self._bell.ring()

    def wait(self, queues: Collection[str], timeout: float, listening: Listening) -> bool:
        """Whether one of the queues got a job to claim within `timeout` seconds of real time."""
        if timeout <= 0:
            return self._ledger.wait(queues, 0)
        until = time.monotonic() + timeout
        wakes, ear = self._wakes, Ear()
        seen = {queue: self._seen[queue] for queue in queues}
        with self._bell.heard_by(ear):
            while True:
                now = {queue: self._acts[queue] for queue in queues}
                acted = [queue for queue in queues if now[queue] != seen[queue]]
                if self._look(queues, [queue for queue in acted if self._chances[queue] < 2]):
                    return True
                seen = now
                self._seen.update({queue: n - self._seen[queue] for queue, n in now.items()})
                left = until - time.monotonic()
                if left <= 0 or self._wakes != wakes:
                    return False
                listening.ask(queues)
                ear.sleep(min(left, self._agenda.next(queues, self._ledger.clock.now())))

    def _look(self, queues: Collection[str], acted: Collection[str]) -> bool:
        """Whether there is something, and why it should be so: `acted` are where we did it."""
        now = self._ledger.clock.now()
        if self._announced(queues):
            return True
        due = [queue for queue in queues if self._agenda.calls(queue, now)]
        if due and self._ledger.wait(due, 0):
            # Perhaps no notice will come: let the poll that follows ask for itself.
            self._agenda.expect(due)
            return True
        for queue in due:
            self._agenda.asked(queue, now)
        if not (acted and self._ledger.wait(acted, 0)):
            return False
        # Where a poll was in vain no notice has led to it: let the next one ask the ledger.
        self._agenda.expect([queue for queue in acted if self._chances[queue]])
        return True

    def _announced(self, queues: Collection[str]) -> bool:
        """Whether a message that lies here names a job to claim."""
        news = self._inbox.news(queues)
        if not news:
            return False
        kept = self._sifting.sift(self._sifting.named(news))
        self._inbox.put(kept)
        return bool(kept) and self._ledger.wait(queues, 0)
