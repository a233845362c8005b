"""The claims that this process holds: a message's receipt handle is all that SQS knows of one."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.sqs.calls import Delivery
    from ferryman.backends.sqs.envelope import Envelope
    from ferryman.job import State
    from ferryman.queue.settlement import Settlement

_REMEMBERED: Final = 10_000


@dataclass(frozen=True, slots=True)
class Claim:
    """A message that a worker of this process works on."""

    envelope: Envelope
    delivery: Delivery
    worker: str
    turn: int

    @property
    def fence(self) -> int:
        return self.envelope.attempts + self.delivery.count


class Held:
    """Claims by job id, and how the last ones ended: the same end sent again is known."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._claims: dict[str, Claim] = {}
        self._ended: OrderedDict[tuple[str, str], State] = OrderedDict()

    def add(self, claim: Claim) -> bool:
        """False where another message of the same job is held: it came twice."""
        with self._lock:
            held = self._claims.setdefault(claim.envelope.id, claim)
            if held is not claim and held.fence < claim.fence:
                # The lease of the earlier one ran out, or it would not have come again.
                held = self._claims[claim.envelope.id] = claim
            return held is claim

    def find(self, job_id: str, fence: int, worker: str) -> Claim | None:
        """The claim, if it is the current one as far as we know."""
        with self._lock:
            claim = self._claims.get(job_id)
        return claim if claim and (claim.fence, claim.worker) == (fence, worker) else None

    def lost(self, worker: str, turn: int, listed: set[tuple[str, int]]) -> Sequence[Claim]:
        """A worker's claims of answered polls that it does not list."""
        with self._lock:
            return [
                claim
                for claim in self._claims.values()
                if claim.worker == worker
                and claim.turn <= turn
                and (claim.envelope.id, claim.fence) not in listed
            ]

    def drop(self, claim: Claim) -> None:
        with self._lock:
            if self._claims.get(claim.envelope.id) is claim:
                del self._claims[claim.envelope.id]

    def end(self, claim: Claim, settlement: Settlement, state: State) -> None:
        """Forget a claim, and remember how it ended."""
        self.drop(claim)
        with self._lock:
            self._ended[settlement.job_id, settlement.mark] = state
            if len(self._ended) > _REMEMBERED:
                self._ended.popitem(last=False)

    def ended(self, settlement: Settlement) -> State | None:
        """Where the same settlement has led before."""
        with self._lock:
            return self._ended.get((settlement.job_id, settlement.mark))
