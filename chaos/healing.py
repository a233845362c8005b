"""After the last fault: everything must come to its end, without help but an operator's resume."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Final

from ferryman import BackendUnavailable, Filter, State
from ferryman.queue.open import open_backend
from ferryman.queue.syncing import Mirrored

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from chaos.cast import Pace
    from chaos.progress import Progress
    from chaos.site import Site
    from ferryman.queue.contract import Backend

LONGEST: Final = 600.0

_UNFINISHED: Final = (State.PENDING, State.PROCESSING, State.PAUSED)


def heal(urls: Sequence[str], pace: Pace, progress: Progress) -> None:
    """Return when every job has ended, as all of these addresses see it, or when it will not.

    A standstill is many times what a lease, a reap, the longest backoff and the longest delay take
    together; there must be calm at the end, because a handler that lost its lease may still push.
    """
    began = changed = time.monotonic()
    last: Mapping[State, int] = {}
    with ExitStack() as stack:
        backends = [stack.enter_context(closing(open_backend(url))) for url in urls]
        while True:
            counts = sum(map(_resume_all, backends), Counter[State]())
            unfinished = sum(counts[state] for state in _UNFINISHED)
            progress.healing(unfinished)
            now = time.monotonic()
            if counts != last:
                last, changed = counts, now
            still = pace.standstill if unfinished else pace.calm
            if now - changed > still or now - began > LONGEST:
                return
            time.sleep(pace.look_every)


def tidy(site: Site, pace: Pace) -> None:
    """Return when nothing is half done any more, or when the time for that is over."""
    until = time.monotonic() + pace.tidying
    while time.monotonic() < until and site.inspect().wrong:
        time.sleep(pace.look_every)


def _resume_all(backend: Backend) -> Counter[State]:
    """Undo every pause: of queues, and of jobs, whose worker may grant one that was asked late."""
    while True:
        try:
            if isinstance(backend, Mirrored):
                backend.sync()
            snapshot = backend.snapshot()
            for queue, counts in snapshot.queues.items():
                if counts.paused:
                    backend.resume_queue(queue)
            if snapshot.count(State.PAUSED):
                page = backend.list(Filter.parse("state:paused"), limit=1_000)
                backend.resume([job.id for job in page.jobs])
        except BackendUnavailable:
            continue
        return Counter({state: snapshot.count(state) for state in State})
