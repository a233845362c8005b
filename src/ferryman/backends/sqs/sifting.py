"""What becomes of a notice whose job was not claimed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.sqs import notes
from ferryman.backends.sqs.dispatch import is_early

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.sqs.calls import Calls, Delivery
    from ferryman.backends.sqs.dispatch import Dispatch
    from ferryman.backends.sqs.strangers import Strangers
    from ferryman.queue.ledger import Ledger


class Sifting:
    """Asks the ledger about notices: the dead are dropped, the early sent on, the rest kept."""

    def __init__(
        self, calls: Calls, ledger: Ledger, dispatch: Dispatch, strangers: Strangers
    ) -> None:
        self._calls = calls
        self._ledger = ledger
        self._dispatch = dispatch
        self._strangers = strangers

    def named(self, deliveries: Sequence[Delivery]) -> Sequence[tuple[str, Delivery]]:
        """The ids of the jobs; another program's message becomes a job first, or is set aside."""
        named = [(notes.read(one.body), one) for one in deliveries]
        foreign = [one for job_id, one in named if job_id is None]
        adopted = self._strangers.adopt(foreign, self._ledger) if foreign else {}
        ids = [(job_id or adopted.get(one.message_id), one) for job_id, one in named]
        return [(job_id, one) for job_id, one in ids if job_id is not None]

    def sift(self, named: Sequence[tuple[str, Delivery]]) -> Sequence[Delivery]:
        """Those to keep, because their jobs are due and may be claimed later."""
        if not named:
            return []
        pending = {one.id: one for one in self._ledger.pending({job_id for job_id, _ in named})}
        now = self._ledger.clock.now()
        self._dispatch.send([notice for notice in pending.values() if is_early(notice, now)])
        kept: list[Delivery] = []
        done: list[Delivery] = []
        for job_id, delivery in named:
            notice = pending.get(job_id)
            # A job that has moved to another queue is announced there.
            live = (
                notice is not None and notice.queue == delivery.queue and not is_early(notice, now)
            )
            (kept if live else done).append(delivery)
        self._calls.delete(done)
        return kept
