"""After the last fault: everything must come to its end, without help but an operator's resume."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING, Final

from ferryman import BackendUnavailable, Filter, State
from ferryman.queue.open import open_backend

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chaos.progress import Progress
    from ferryman.queue.contract import Backend

STANDSTILL: Final = 15.0
"""Seconds without any change of the counts after which healing is given up: many times what a
lease, a reap, the longest backoff and the longest delay take together."""
LONGEST: Final = 240.0
CALM: Final = 0.5
"""Seconds without an unfinished job after which it is over: a handler that lost its lease may
still push a child."""
_PAUSE: Final = 0.1

_UNFINISHED: Final = (State.PENDING, State.PROCESSING, State.PAUSED)


def heal(url: str, progress: Progress) -> None:
    """Return when every job has ended, or when that no longer seems to happen."""
    began = changed = time.monotonic()
    last: Mapping[State, int] = {}
    with closing(open_backend(url)) as backend:
        while True:
            counts = _resume_all(backend)
            unfinished = sum(counts[state] for state in _UNFINISHED)
            progress.healing(unfinished)
            now = time.monotonic()
            if counts != last:
                last, changed = counts, now
            still = STANDSTILL if unfinished else CALM
            if now - changed > still or now - began > LONGEST:
                return
            time.sleep(_PAUSE)


def _resume_all(backend: Backend) -> Mapping[State, int]:
    """Undo every pause: of queues, and of jobs, whose worker may grant one that was asked late."""
    while True:
        try:
            snapshot = backend.snapshot()
            for queue, counts in snapshot.queues.items():
                if counts.paused:
                    backend.resume_queue(queue)
            if snapshot.count(State.PAUSED):
                page = backend.list(Filter.parse("state:paused"), limit=1_000)
                backend.resume([job.id for job in page.jobs])
        except BackendUnavailable:
            continue
        return {state: snapshot.count(state) for state in State}
