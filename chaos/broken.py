"""Builds that are broken on purpose: a campaign that does not catch them proves nothing.

Each is a backend with a URL of its own, such as `fence+sqlite:///jobs.db`.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from ferryman import State
from ferryman.events import Events
from ferryman.lifecycle import Verdict
from ferryman.queue.open import BACKENDS, open_backend
from ferryman.queue.traced import Traced

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ferryman.backends.s3.answers import Lost
    from ferryman.clock import Clock
    from ferryman.queue.contract import Backend
    from ferryman.queue.settlement import Receipt, Settlement

_WINDOW: Final = 0.08
"""Seconds between the two halves of a hand-off that should be one commit."""


class Unfenced(Traced):
    """Whoever acks is believed: a worker that lost its lease completes the job all the same.

    Only acks: a give-back that is let through takes the job from its holder, who then gives it back
    in turn, and so on without end.
    """

    def settle(self, settlements: Sequence[Settlement]) -> Sequence[Receipt]:
        return super().settle([self._current(settlement) for settlement in settlements])

    def _current(self, settlement: Settlement) -> Settlement:
        job = self.get(settlement.job_id)
        if settlement.verdict is not Verdict.ACK or job is None or job.worker is None:
            return settlement
        return replace(settlement, fence=job.fence, worker=job.worker)


class SettleFirst(Traced):
    """Children are pushed in a call of their own, after the end of their parent is recorded."""

    def settle(self, settlements: Sequence[Settlement]) -> Sequence[Receipt]:
        receipts = super().settle([replace(one, children=()) for one in settlements])
        for settlement, receipt in zip(settlements, receipts, strict=True):
            if settlement.children and receipt.applied and receipt.state is State.COMPLETED:
                time.sleep(_WINDOW)
                self.push(settlement.children)
        return receipts


def _wrapped(kind: type[Traced], url: str, clock: Clock) -> Backend:
    return kind(open_backend(url, clock), Events())


def _heedless(url: str, clock: Clock) -> Backend:
    """Nodes on S3 that write a job's `lease.json` over whatever stands there by now."""
    # Here, because its driver is an extra.
    from ferryman.backends.s3.bucket import Bucket
    from ferryman.backends.s3.location import Location
    from ferryman.backends.s3.strict import StrictBackend

    class Heedless(Bucket):
        def put_new(self, key: str, body: bytes) -> str | Lost:
            return self.put(key, body) if _is_lease(key) else super().put_new(key, body)

        def put_over(self, key: str, body: bytes, etag: str) -> str | Lost:
            return self.put(key, body) if _is_lease(key) else super().put_over(key, body, etag)

    location = Location.parse(url)
    return StrictBackend(location, Heedless.at(location), clock)


def _is_lease(key: str) -> bool:
    return key.endswith("/lease.json")


BROKEN: Final[Mapping[str, Callable[[str, Clock], Backend]]] = {
    "fence": partial(_wrapped, Unfenced),
    "handoff": partial(_wrapped, SettleFirst),
    "claim": _heedless,
}
ONLY_ON: Final = {"claim": "s3"}
"""Builds that can be made of one backend only."""


def broken_url(build: str, url: str) -> str:
    """The address of the same store, as a broken build opens it."""
    scheme = url.partition(":")[0]
    BACKENDS[f"{build}+{scheme}"] = (__name__, None)
    return f"{build}+{url}"


def connect(url: str, clock: Clock) -> Backend:
    """What `open_backend` calls for such an address."""
    build, _, sound = url.partition("+")
    return BROKEN[build](sound, clock)
