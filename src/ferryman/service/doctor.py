"""Examines a store and everything around it; each finding comes with what to do."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING, Final

from ferryman.errors import BackendError, BackendUnavailable
from ferryman.queue.diagnosis import Diagnosable, Finding
from ferryman.service.checks import history, store, work
from ferryman.service.checks.chart import Chart
from ferryman.service.insights import Insights
from ferryman.service.store import NoStoreYet, open_store
from ferryman.telemetry.escape import without_credentials

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ferryman.queue.contract import Backend
    from ferryman.service.look import Look

# Named, so that a check which the store refuses is known by its name; None: nothing to say.
CHECKS: Final[Mapping[str, Callable[[Chart], Finding | None]]] = {
    "round trip": store.round_trip,
    "clock": store.clock,
    "workers": work.workers,
    "stale workers": work.stale,
    "queues": work.queues,
    "paused queues": work.paused,
    "leases": work.leases,
    "failures": history.failures,
    "history": history.age,
}


def examine_url(url: str, *, deep: bool = False) -> Sequence[Finding]:
    """Open the store at a URL and examine it; that it cannot be opened is a finding too."""
    try:
        backend = open_store(url, create=False)
    except BackendError as error:
        return [_refused("store", error)]
    with closing(backend):
        return examine(backend, deep=deep)


def examine(backend: Backend, *, deep: bool = False, look: Look | None = None) -> Sequence[Finding]:
    """Every check in order, then the backend's own probes. `deep` allows what may take minutes.

    `look` is one that is shared with others. Nothing is changed but a cell that is written and
    deleted again.
    """
    started = time.perf_counter()
    try:
        seen = Insights(backend, look=look).overview()
    except BackendError as error:
        # The probes may know why: a full disk, a damaged file.
        return [_refused("store", error), *_probes(backend, deep)]
    millis = (time.perf_counter() - started) * 1e3
    answers = Finding.ok("store", f"{seen.backend} answers in {millis:.1f} ms")
    return [answers, *_checked(Chart(backend, seen, deep)), *_probes(backend, deep)]


def _checked(chart: Chart) -> Iterator[Finding]:
    for name, check in CHECKS.items():
        try:
            finding = check(chart)
        except BackendError as error:
            finding = _refused(name, error)
        if finding is not None:
            yield finding


def _probes(backend: Backend, deep: bool) -> Sequence[Finding]:
    if not isinstance(backend, Diagnosable):
        return []
    try:
        return backend.diagnose(deep=deep)
    except BackendError as error:
        return [_refused("probes", error)]


def _refused(check: str, error: BackendError) -> Finding:
    if isinstance(error, NoStoreYet):
        fix = "push a job or start a worker to make one, or name another store with --url"
    elif isinstance(error, BackendUnavailable):
        fix = "see that the store is up and that the URL names it; then try again"
    else:
        fix = "no process can use the store before that is done; see that the URL is right"
    return Finding.problem(check, without_credentials(str(error)), fix)
