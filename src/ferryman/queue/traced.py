"""Wraps any backend: times every verb once, and keeps blocking verbs off the event loop."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from ferryman.errors import BlockingCall, Unsupported
from ferryman.queue.capacity import NO_LIMITS
from ferryman.queue.counting import Counting
from ferryman.queue.diagnosis import Diagnosable, Hearing, Quarantining
from ferryman.queue.joining import Joining, Stating, no_database
from ferryman.queue.view import Viewable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from ferryman.clock import Clock
    from ferryman.events import Events
    from ferryman.filter import Filter
    from ferryman.job import Job, State
    from ferryman.message import Message
    from ferryman.queue.answers import Acted, Cell, Page, Pushed, Reaped, Snapshot
    from ferryman.queue.capabilities import Capabilities
    from ferryman.queue.capacity import Limits
    from ferryman.queue.contract import Backend
    from ferryman.queue.diagnosis import Finding, Trouble
    from ferryman.queue.heartbeat import Beat, Pulse
    from ferryman.queue.joining import Statement, Style
    from ferryman.queue.settlement import Receipt, Settlement
    from ferryman.queue.view import View

P = ParamSpec("P")
R = TypeVar("R")

_here = threading.local()


def forbid_blocking_calls() -> None:
    """Every backend verb raises `BlockingCall` in this thread from now on: it runs a loop."""
    _here.forbidden = True


class Traced:
    """A `Backend` that emits `backend.call` (verb, seconds, size, error) for each call."""

    def __init__(self, backend: Backend, events: Events) -> None:
        self._backend = backend
        self._events = events

    @property
    def capabilities(self) -> Capabilities:
        return self._backend.capabilities

    @property
    def clock(self) -> Clock:
        return self._backend.clock

    def _call(
        self, verb: str, size: int, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs
    ) -> R:
        if getattr(_here, "forbidden", False):
            raise BlockingCall(f"{verb} would block the event loop: await its a… twin instead")
        if not self._events.wanted("backend.call"):
            return call(*args, **kwargs)
        started = time.perf_counter()
        error: str | None = None
        try:
            return call(*args, **kwargs)
        except Exception as raised:
            error = type(raised).__name__
            raise
        finally:
            seconds = time.perf_counter() - started
            self._events.emit("backend.call", verb=verb, seconds=seconds, size=size, error=error)

    def push(
        self,
        messages: Sequence[Message],
        *,
        connection: object | None = None,
        limits: Limits = NO_LIMITS,
    ) -> Sequence[Pushed]:
        return self._call(
            "push",
            len(messages),
            self._backend.push,
            messages,
            connection=connection,
            limits=limits,
        )

    def depth(self, queue: str, most: int, tenant: str | None = None) -> int:
        return self._call("depth", 1, self._backend.depth, queue, most, tenant)

    def poll(
        self,
        worker: str,
        queues: Mapping[str, int],
        *,
        lease: float,
        turn: int = 0,
        skip_tasks: Collection[str] = (),
    ) -> Sequence[Job]:
        return self._call(
            "poll",
            sum(queues.values()),
            self._backend.poll,
            worker,
            queues,
            lease=lease,
            turn=turn,
            skip_tasks=skip_tasks,
        )

    def heartbeat(
        self, worker: str, beats: Sequence[Beat], *, lease: float, answered: int = -1
    ) -> Sequence[Pulse]:
        return self._call(
            "heartbeat",
            len(beats),
            self._backend.heartbeat,
            worker,
            beats,
            lease=lease,
            answered=answered,
        )

    def settle(self, settlements: Sequence[Settlement]) -> Sequence[Receipt]:
        return self._call("settle", len(settlements), self._backend.settle, settlements)

    def reap(self, limit: int = 1_000) -> Sequence[Reaped]:
        return self._call("reap", limit, self._backend.reap, limit)

    def wait(self, queues: Collection[str], timeout: float) -> bool:
        return self._call("wait", len(queues), self._backend.wait, queues, timeout)

    def wake(self) -> None:
        # Never blocks, and finished handlers call it from the event loop.
        self._backend.wake()

    def get(self, job_id: str) -> Job | None:
        return self._call("get", 1, self._backend.get, job_id)

    def list(self, where: Filter, *, limit: int = 50, after: str | None = None) -> Page:
        return self._call("list", limit, self._backend.list, where, limit=limit, after=after)

    def snapshot(self) -> Snapshot:
        return self._call("snapshot", 1, self._backend.snapshot)

    def cancel(self, ids: Sequence[str]) -> Sequence[Acted]:
        return self._call("cancel", len(ids), self._backend.cancel, ids)

    def pause(self, ids: Sequence[str]) -> Sequence[Acted]:
        return self._call("pause", len(ids), self._backend.pause, ids)

    def resume(self, ids: Sequence[str]) -> Sequence[Acted]:
        return self._call("resume", len(ids), self._backend.resume, ids)

    def retry(self, ids: Sequence[str]) -> Sequence[Acted]:
        return self._call("retry", len(ids), self._backend.retry, ids)

    def delete(self, ids: Sequence[str]) -> Sequence[Acted]:
        return self._call("delete", len(ids), self._backend.delete, ids)

    def restore(self, jobs: Sequence[Job]) -> Sequence[Pushed]:
        return self._call("restore", len(jobs), self._backend.restore, jobs)

    def pause_queue(self, queue: str) -> None:
        self._call("pause_queue", 1, self._backend.pause_queue, queue)

    def resume_queue(self, queue: str) -> None:
        self._call("resume_queue", 1, self._backend.resume_queue, queue)

    def purge(self, queue: str) -> int:
        return self._call("purge", 1, self._backend.purge, queue)

    def prune(
        self,
        *,
        older_than: float,
        states: Collection[State] = (),
        keep: int | None = None,
        limit: int = 10_000,
        spare: Collection[str] = (),
    ) -> int:
        return self._call(
            "prune",
            limit,
            self._backend.prune,
            older_than=older_than,
            states=states,
            keep=keep,
            limit=limit,
            spare=spare,
        )

    def read_cells(self, prefix: str) -> Sequence[Cell]:
        return self._call("read_cells", 1, self._backend.read_cells, prefix)

    def write_cell(
        self, key: str, value: str | None, *, expect: int | None, ttl: float | None = None
    ) -> Cell | None:
        return self._call(
            "write_cell", 1, self._backend.write_cell, key, value, expect=expect, ttl=ttl
        )

    def diagnose(self, *, deep: bool = False) -> Sequence[Finding]:
        """What the backend's own probes found; nothing where it has none."""
        if not isinstance(self._backend, Diagnosable):
            return []
        return self._call("diagnose", 1, self._backend.diagnose, deep=deep)

    def count(self, where: Filter, most: int) -> Mapping[State, int] | None:
        """Matches by state, where the backend can tell without a look at every job."""
        if not isinstance(self._backend, Counting):
            return None
        return self._call("count", most, self._backend.count, where, most)

    def hears(self) -> bool | None:
        """Whether the backend is told of pushes; None where it is not meant to be."""
        return self._backend.hears() if isinstance(self._backend, Hearing) else None

    def troubles(self) -> Sequence[Trouble]:
        """What the backend has set aside because it could not be used."""
        if not isinstance(self._backend, Quarantining):
            return []
        return self._call("troubles", 1, self._backend.troubles)

    def settle_within(
        self, connection: object, settlements: Sequence[Settlement]
    ) -> Sequence[Receipt]:
        """On a database; `Unsupported` elsewhere."""
        if not isinstance(self._backend, Joining):
            raise no_database(self.capabilities.backend, "job.ack(connection=…)")
        return self._call(
            "settle", len(settlements), self._backend.settle_within, connection, settlements
        )

    def push_statement(self, message: Message, style: Style) -> Statement:
        """On a database server; `Unsupported` elsewhere."""
        if not isinstance(self._backend, Stating):
            raise Unsupported(
                f"{self.capabilities.backend}: push_statement is for drivers of postgresql://; "
                "push, or on sqlite:// push with connection="
            )
        return self._backend.push_statement(message, style)

    def create_view(self, view: View) -> None:
        """On a database; `Unsupported` elsewhere."""
        if not isinstance(self._backend, Viewable):
            raise Unsupported(
                f"{self.capabilities.backend}: there is no database to make the view "
                f"{view.name!r} in: use sqlite:// or postgresql://"
            )
        self._call("create_view", 1, self._backend.create_view, view)

    def close(self) -> None:
        self._backend.close()
