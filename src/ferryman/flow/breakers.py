"""A breaker of one dependency: asked before a call, told after it, shared by all workers."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from ferryman.errors import BreakerOpen, TaskError
from ferryman.flow.circuit import Circuit, Phase, Terms
from ferryman.flow.failure import Failure
from ferryman.flow.shared import Local
from ferryman.ids import new_id
from ferryman.outcomes import Cancel, Fail, Snooze
from ferryman.tasks.aio import offload
from ferryman.tasks.limits import covering

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from ferryman.clock import Clock
    from ferryman.events import Events
    from ferryman.flow.shared import Document, Value
    from ferryman.queue.contract import Backend

R = TypeVar("R")

BREAKER_CELLS: Final = "breaker/"
LOST_AFTER: Final = 60.0
"""Seconds after which a probe made by hand is no longer waited for."""
HANDLERS_OWN: Final = (Snooze, Fail, Cancel, BreakerOpen)
"""What a handler says about its job says nothing about what it called."""


class Breaker:
    """Stops calls to a dependency that fails: `with ferry.breaker("gemini"): …`.

    Entering raises `BreakerOpen` while it is open. What the block raises counts as a failure if it
    is one of `failures`; a block that ends well is a success, `Snooze`, `Fail` and `Cancel` are
    neither. Inside a job whose task `needs` this breaker the block does nothing: its worker asks
    and tells already. `async with` for async callers.
    """

    def __init__(
        self, name: str, value: Value, store: Callable[[], Backend], events: Events
    ) -> None:
        self.name = name
        self.terms = Terms()
        self._failures: tuple[type[BaseException], ...] = (Exception,)
        self._declared: object = None
        self._value = value
        self._store = store
        self._events = events
        self._entered: ContextVar[tuple[str | None, ...]] = ContextVar("ferryman_probes")

    def declare(
        self, terms: Terms, failures: tuple[type[BaseException], ...], *, local: bool
    ) -> None:
        """How it shall be; said twice, it must be the same."""
        declared = (terms, failures, local)
        if self._declared not in (None, declared):
            raise TaskError(f"breaker {self.name!r} is declared twice, differently")
        if local and self._declared is None:
            self._value = Local()
        self.terms, self._failures, self._declared = terms, failures, declared

    def check(self) -> None:
        """`Unsupported` where the store cannot hold it."""
        self._value.check()

    @property
    def clock(self) -> Clock:
        return self._store().clock

    def circuit(self) -> Circuit:
        """How it stands now."""
        return Circuit.read(self._value.read())

    def phase(self) -> Phase:
        """Closed, open or half-open."""
        return self.circuit().phase(self.clock.now())

    def reset(self) -> None:
        """Close it and forget its failures."""
        self._value.delete()

    def counts(self, failure: Failure) -> bool:
        """Whether what was raised is the dependency's fault."""
        return failure.is_a(self._failures) and not failure.is_a(HANDLERS_OWN)

    # -- for workers, which ask for many calls at once

    def probe(self, want: int, lost_after: float) -> Sequence[str]:
        """Tokens of at most `want` calls that may try; none unless it is half-open."""

        def step(document: Document) -> tuple[Document | None, Sequence[str]]:
            circuit, now = Circuit.read(document), self.clock.now()
            free = min(want, circuit.free_probes(now, self.terms))
            if circuit.phase(now) is not Phase.HALF_OPEN or free < 1:
                return None, ()
            tokens = [new_id() for _ in range(free)]
            return circuit.probe(tokens, now, now + lost_after).document(), tokens

        return self._value.change(step)

    def prolong(self, tokens: Sequence[str], lost_after: float) -> None:
        """These probes are still under way."""

        def step(document: Document) -> tuple[Document | None, None]:
            circuit, now = Circuit.read(document), self.clock.now()
            known = [token for token in tokens if token in circuit.running]
            return circuit.probe(known, now, now + lost_after).document() if known else None, None

        self._value.change(step)

    def drop(self, tokens: Sequence[str]) -> None:
        """These probes will not tell anything."""

        def step(document: Document) -> tuple[Document | None, None]:
            circuit = Circuit.read(document)
            after = circuit.without(tokens)
            return None if after == circuit else after.document(), None

        self._value.change(step)

    def failed(
        self,
        failure: Failure,
        token: str | None = None,
        suspect: str | None = None,
        *,
        again: bool = False,
    ) -> bool:
        """Count a failure, of a job if `suspect` is its id; whether nothing tells that the
        dependency is well: it was not closed, or the job failed before and none succeeded since.
        `again`: the same failure for another job, which is not counted twice."""

        def step(document: Document) -> tuple[Document | None, tuple[Circuit, Circuit, float]]:
            before, now = Circuit.read(document), self.clock.now()
            after = before.failed(token, failure.text, now, self.terms, suspect, again=again)
            return None if after == before else after.document(), (before, after, now)

        before, after, now = self._value.change(step)
        if after.until != before.until:
            self._events.emit(
                "breaker.opened",
                breaker=self.name,
                failures=after.failures,
                until=after.until,
                problem=after.problem,
            )
        return before.phase(now) is not Phase.CLOSED or suspect in before.suspects

    def succeeded(self, token: str | None = None) -> None:
        """Count a success; written only where it changes something."""

        def step(document: Document) -> tuple[Document | None, bool]:
            before = Circuit.read(document)
            after = before.succeeded(token, self.clock.now())
            closed = before.until is not None and after.until is None
            return None if after == before else after.document(), closed

        if self._value.change(step):
            self._events.emit("breaker.closed", breaker=self.name)

    # -- for handlers

    def __enter__(self) -> Self:
        token: str | None = None
        if self.name not in covering.get():
            token = self._ask()
        self._entered.set((*self._entered.get(()), token))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        *outer, token = self._entered.get()
        self._entered.set(tuple(outer))
        if self.name in covering.get():
            return
        if error is None:
            self.succeeded(token)
            return
        failure = Failure.of(error, self.clock.now())
        if self.counts(failure):
            self.failed(failure, token)
        elif token is not None:
            self.drop([token])

    async def __aenter__(self) -> Self:
        token: str | None = None
        if self.name not in covering.get():
            token = await offload(self._ask)
        self._entered.set((*self._entered.get(()), token))
        return self

    async def __aexit__(self, *raised: Any) -> None:
        # The context that knows the token is this task's, and `offload` takes a copy along.
        await offload(self.__exit__, *raised)
        self._entered.set(self._entered.get()[:-1])

    def _ask(self) -> str | None:
        """None: closed; a token: may try; else `BreakerOpen`."""
        circuit, now = self.circuit(), self.clock.now()
        if circuit.until is None:
            return None
        if tokens := self.probe(1, LOST_AFTER):
            return tokens[0]
        raise BreakerOpen(self.name, max(1.0, circuit.until - now), circuit.problem)
