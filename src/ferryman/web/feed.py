"""The live feed: one look at the store for all who listen, and what has changed since the last."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from starlette.concurrency import run_in_threadpool

from ferryman.errors import BackendError
from ferryman.service import presentation
from ferryman.service.insights import Overview
from ferryman.telemetry.redaction import redacted_text
from ferryman.web.problems import Problem

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence

    from ferryman.queue.answers import QueueCounts
    from ferryman.queue.contract import Backend
    from ferryman.service.look import Look
    from ferryman.service.workers import WorkerRow
    from ferryman.web.access.visitor import Visitor

EVERY: Final = 1.2
"""Seconds between two looks: one question to the store each."""
SHARE: Final = 0.2
"""Of the time, at most so much is spent looking: a store that takes long is asked less often."""
SLOWEST: Final = 5.0
"""Seconds between two looks at most."""
WORKERS_EVERY: Final = 10
"""Looks between two questions about the workers."""
HEARTBEAT: Final = 15.0
"""Seconds after which a silent stream says that it lives."""
ASK_AGAIN: Final = 15.0
"""Seconds after which the next look also finds out whether the listeners may still listen."""
MOST_LISTENERS: Final = 200
REMEMBERED: Final = 1_000


@dataclass(frozen=True, slots=True)
class Change:
    """What a look found; `queues` are the names of those whose counts differ."""

    number: int
    queues: frozenset[str]
    seen: Overview | None
    outage: str | None = None


@dataclass(slots=True, eq=False)
class Listener:
    """An open stream; `ended` when its visitor may no longer listen."""

    visitor: Visitor
    ended: bool = False


class Feed:
    """Looks at the store while somebody listens. Belongs to the event loop of its server.

    `holds` tells whether a visitor would be let in now: a stream outlives the request that began
    it, and must not outlive its credential.
    """

    def __init__(self, backend: Backend, look: Look, holds: Callable[[Visitor], bool]) -> None:
        self._backend = backend
        self._shared = look
        self._holds = holds
        # Numbers of another life of the server mean nothing to this one.
        self._life = secrets.token_hex(4)
        self._changes: deque[Change] = deque(maxlen=REMEMBERED)
        self._news = asyncio.Event()
        self._listeners: set[Listener] = set()
        self._looking: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._workers: Sequence[WorkerRow] | None = None
        self._took = 0.0
        self._closed = False

    def close(self) -> None:
        """End every stream; from any thread."""
        self._closed = True
        self._wake()

    def expel(self) -> None:
        """End the streams of those who may no longer listen; from any thread."""
        listeners = list(self._listeners)
        for visitor in {one.visitor for one in listeners}:
            # While the store does not answer nobody is sent away, and nothing of it is told.
            with contextlib.suppress(BackendError):
                if not self._holds(visitor):
                    for one in listeners:
                        one.ended |= one.visitor == visitor
        # Only then: whoever is woken begins to wait for the next sign of life anew.
        if any(one.ended for one in listeners):
            self._wake()

    def stream(self, last_id: str | None, visitor: Visitor) -> AsyncIterator[bytes]:
        """Server-sent events from now on, or from after `last_id` if that is still known."""
        if len(self._listeners) >= MOST_LISTENERS:
            raise Problem(
                429,
                "too_many_listeners",
                f"{MOST_LISTENERS} pages are listening already",
                hint="poll GET /v1/overview instead",
                headers={"Retry-After": "30"},
            )
        return self._events(self._number(last_id), Listener(visitor))

    async def _events(self, number: int | None, listener: Listener) -> AsyncIterator[bytes]:
        self._enter(listener)
        try:
            yield b"retry: 2000\n\n"
            while not (self._closed or listener.ended):
                news = self._news
                latest = self._changes[-1] if self._changes else None
                if latest is None or latest.number == number:
                    try:
                        await asyncio.wait_for(news.wait(), HEARTBEAT)
                    except TimeoutError:
                        yield b": still here\n\n"
                    continue
                yield self._told(latest, number, listener.visitor.queues)
                number = latest.number
        finally:
            self._leave(listener)

    def _told(self, latest: Change, number: int | None, only: Collection[str] | None) -> bytes:
        known = None if number is None else [c for c in self._changes if c.number > number]
        seen = latest.seen
        data: dict[str, Any] = {"at": None, "queues": [], "overview": None, "outage": latest.outage}
        if seen is not None:
            if only is not None:
                seen = _confined(seen, only)
            names = {counts.queue for counts in seen.queues}
            if known is not None:
                changed = frozenset[str]().union(*(change.queues for change in known))
                names = {name for name in changed if only is None or name in only}
            shown = presentation.overview(seen)
            data |= {"at": shown["at"], "queues": sorted(names), "overview": shown}
        text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
        return f"event: change\nid: {self._life}-{latest.number}\ndata: {text}\n\n".encode()

    def _number(self, last_id: str | None) -> int | None:
        """The change that a listener saw last, if all since then are still known."""
        life, _, number = (last_id or "").partition("-")
        if life != self._life or not number.isdecimal() or not self._changes:
            return None
        known = self._changes[0].number - 1 <= int(number) <= self._changes[-1].number
        return int(number) if known else None

    # -- looking

    def _enter(self, listener: Listener) -> None:
        self._listeners.add(listener)
        self._shared.watched = True
        if self._looking is None or self._looking.done():
            self._loop = asyncio.get_running_loop()
            self._looking = self._loop.create_task(self._look_on())

    def _leave(self, listener: Listener) -> None:
        self._listeners.discard(listener)
        self._shared.watched = bool(self._listeners)
        if not self._listeners and self._looking is not None:
            self._looking.cancel()

    async def _look_on(self) -> None:
        turn, asked = 0, asyncio.get_running_loop().time()
        while not self._closed:
            now = asyncio.get_running_loop().time()
            if now - asked >= ASK_AGAIN:
                asked = now
                await run_in_threadpool(self.expel)
            change = await run_in_threadpool(self._look, turn)
            if change is not None:
                self._changes.append(change)
                self._tell()
            turn += 1
            await asyncio.sleep(min(max(EVERY, self._took / SHARE) - self._took, SLOWEST))

    def _look(self, turn: int) -> Change | None:
        last = self._changes[-1] if self._changes else Change(0, frozenset(), None)
        started, self._took = self._backend.clock.monotonic(), 0.0
        try:
            snapshot = self._shared.renew()
            if self._backend.capabilities.cells and turn % WORKERS_EVERY == 0:
                self._workers = self._shared.renew_workers()
        except BackendError as error:
            outage = redacted_text(str(error))
            same = last.outage is not None
            return None if same else Change(last.number + 1, frozenset(), last.seen, outage)
        self._took = self._backend.clock.monotonic() - started
        queues = [snapshot.queues[name] for name in sorted(snapshot.queues)]
        seen = Overview(snapshot.at, self._backend.capabilities.backend, queues, self._workers)
        before = {} if last.seen is None else {one.queue: one for one in last.seen.queues}
        changed = _differing(before, snapshot.queues)
        same = last.seen is not None and not changed and last.outage is None
        if same and last.seen is not None and last.seen.workers == self._workers:
            return None
        return Change(last.number + 1, changed, seen)

    def _wake(self) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._tell)

    def _tell(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()


def _differing(before: Mapping[str, QueueCounts], now: Mapping[str, QueueCounts]) -> frozenset[str]:
    names = before.keys() | now.keys()
    return frozenset(name for name in names if before.get(name) != now.get(name))


def _confined(seen: Overview, only: Collection[str]) -> Overview:
    workers = seen.workers
    if workers is not None:
        workers = [row for row in workers if row.queues.keys() & set(only)]
    queues = [counts for counts in seen.queues if counts.queue in only]
    return Overview(seen.at, seen.backend, queues, workers)
