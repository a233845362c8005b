"""Does the bulk acts of a store, one part after the other, in a thread of its own."""

from __future__ import annotations

import logging
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ferryman.errors import BackendError, FerrymanError
from ferryman.ids import worker_id
from ferryman.job import State
from ferryman.lifecycle import Act
from ferryman.service.bulk import Before, BulkAct, BulkActs
from ferryman.service.control import Control
from ferryman.service.insights import Insights
from ferryman.service.search import Search

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.job import Job
    from ferryman.queue.contract import Backend
    from ferryman.service.audit import Audit

LOGGER: Final = logging.getLogger("ferryman.bulk")
PART: Final = 500
"""Jobs that are acted on between two records."""
OWNED: Final = 10.0
"""Seconds after its last record for which a bulk act belongs to whoever wrote it."""
LOOK_EVERY: Final = 5.0
"""Seconds between two looks for bulk acts that somebody has left behind."""


class BulkRunner:
    """Starts with the first bulk act or look, and goes on with those of servers that died."""

    def __init__(self, backend: Backend, audit: Audit) -> None:
        self._backend = backend
        self._audit = audit
        self._acts = BulkActs(backend)
        self._control = Control(backend)
        self._search = Search(backend)
        self._me = worker_id()
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ferryman-bulk", daemon=True)
        self._lock = threading.Lock()

    def start(self) -> None:
        """Look for work from now on; said again, look now."""
        with self._lock:
            capabilities = self._backend.capabilities
            able = capabilities.cells and capabilities.browse and not self._stop.is_set()
            if able and not self._thread.is_alive() and self._thread.ident is None:
                self._thread.start()
        self._wake.set()

    def stop(self) -> None:
        """End after the part that is under way; others go on at once."""
        self._stop.set()
        self._wake.set()
        if self._thread.ident is not None:
            self._thread.join(OWNED)

    def _run(self) -> None:
        while not self._stop.is_set():
            self._wake.clear()
            try:
                self._look()
            except BackendError:
                pass  # an outage: the next look may find the store again
            except FerrymanError as error:
                LOGGER.warning("a bulk act cannot go on: %s", type(error).__name__)
            self._wake.wait(LOOK_EVERY)

    def _look(self) -> None:
        for bulk in reversed(self._acts.list()):
            if self._stop.is_set():
                return
            if bulk.state == "running" and bulk.owned_until <= self._backend.clock.now():
                claimed = self._acts.write(self._owned(bulk))
                if claimed is not None:
                    self._do(claimed)

    def _do(self, bulk: BulkAct) -> None:
        # Of those that it is found with, nobody knows how far the one before us came.
        current: BulkAct | None = self._record(bulk, self._taken_over(bulk))
        while current is not None and current.state == "running":
            if self._stop.is_set():
                self._record(current, replace(current, owned_until=0.0), owned=False)
                return
            current = self._record(current, self._acted(current))

    def _acted(self, bulk: BulkAct) -> BulkAct:
        """The held jobs acted on, and the next ones held."""
        answers = self._control.act_on(bulk.act, [one.id for one in bulk.held])
        refused = sum(one.refused is not None for one in answers)
        return self._next(_counted(bulk, refused))

    def _taken_over(self, bulk: BulkAct) -> BulkAct:
        refused = sum(not self._done_once(bulk.act, one) for one in bulk.held)
        return self._next(_counted(bulk, refused))

    def _done_once(self, act: Act, before: Before) -> bool:
        """Whether the act is done to a job: by whoever was here before, or now."""
        if _is_done(act, before, self._backend.get(before.id)):
            return True
        (answer,) = self._control.act_on(act, [before.id])
        return answer.refused is None or _is_done(act, before, self._backend.get(before.id))

    def _next(self, bulk: BulkAct) -> BulkAct:
        if bulk.walked or bulk.cancelling:
            return self._over(bulk)
        where = Insights(self._backend, bulk.queues).filter(bulk.where)
        found = self._search.find(where, limit=PART, after=bulk.after)
        held = tuple(Before(job.id, str(job.state), job.generation) for job in found.jobs)
        more = replace(bulk, held=held, after=found.next, walked=found.next is None)
        return more if held or found.next is not None else self._over(more)

    def _over(self, bulk: BulkAct) -> BulkAct:
        # Before the end is recorded: whoever comes after a crash in between writes the same row.
        act = f"bulk.{bulk.act}"
        self._audit.add(
            bulk.id,
            bulk.by,
            act,
            target=bulk.id,
            where=bulk.where,
            count=bulk.done,
            request_id=bulk.request_id,
        )
        return replace(
            bulk,
            state="cancelled" if bulk.cancelling else "completed",
            finished_at=self._backend.clock.now(),
        )

    def _record(self, seen: BulkAct, after: BulkAct, *, owned: bool = True) -> BulkAct | None:
        """Write it; None if it is no longer ours. A cancel that came meanwhile is kept."""
        after = self._owned(after) if owned else after
        while (written := self._acts.write(replace(after, version=seen.version))) is None:
            seen = self._acts.get(seen.id)
            if seen.owner != self._me:
                return None
            after = replace(after, cancelling=seen.cancelling)
        return written

    def _owned(self, bulk: BulkAct) -> BulkAct:
        return replace(bulk, owner=self._me, owned_until=self._backend.clock.now() + OWNED)


def _counted(bulk: BulkAct, refused: int) -> BulkAct:
    return replace(
        bulk,
        matched=bulk.matched + len(bulk.held),
        done=bulk.done + len(bulk.held) - refused,
        refused=bulk.refused + refused,
        held=(),
    )


def _is_done(act: Act, before: Before, now: Job | None) -> bool:
    if now is None:
        return act is Act.DELETE
    match act:
        case Act.RETRY:
            return now.generation > before.generation
        case Act.CANCEL:
            return before.state not in _ENDED and (
                now.state is State.CANCELLED or now.asked == "cancel"
            )
        case Act.PAUSE:
            return before.state != State.PAUSED and (
                now.state is State.PAUSED or now.asked == "pause"
            )
        case Act.RESUME:
            return before.state == State.PAUSED and now.state is not State.PAUSED
        case Act.DELETE:
            return False


_ENDED: Final[Sequence[str]] = (State.COMPLETED, State.FAILED, State.CANCELLED)
