"""What a worker passes before it claims and before it starts a job: breakers, rates, permits.

A worker looks, reserves for its free slots, polls, binds what it claimed and trims the rest. So
jobs that could not run are not claimed, and no other worker waits for what is not used.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final, Protocol

from ferryman.flow.circuit import Phase
from ferryman.flow.tally import GRACE

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman.flow.breakers import Breaker
    from ferryman.flow.failure import Failure
    from ferryman.flow.permits import Permits
    from ferryman.flow.rates import Rate
    from ferryman.job import Job

LATE: Final = 1.0
"""Seconds that a claimed job waits for a fresh grant before it is given back."""


LOOK_EVERY: Final = 1.0
"""Seconds after which a spent rate is looked at again: others return what they do not use."""


class Claimed(Protocol):
    """A worker's claim on a job."""

    @property
    def job(self) -> Job: ...


class Gate(ABC):
    """One limit in one worker. Any thread may call."""

    always = False
    """Whether passage is reserved even by an idle worker."""
    opens_at: float | None = None
    """When a shut gate can open by itself, by the store's clock; None: nobody knows."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    @abstractmethod
    def look(self, want: int) -> int:
        """How many of `want` jobs could pass now; nothing is written."""

    @abstractmethod
    def reserve(self, want: int) -> int:
        """Set aside the passage of up to `want` jobs that are not claimed yet; of how many."""

    @abstractmethod
    def bind(self, claim: Claimed) -> None:
        """A job was claimed: what was set aside is its own, while there is some."""

    @abstractmethod
    def trim(self) -> None:
        """Return what was set aside and is not bound."""

    @abstractmethod
    def enter(self, claim: Claimed) -> float | None:
        """The last look before the handler: None: run; else give back for so many seconds."""

    @abstractmethod
    def leave(self, claim: Claimed) -> None:
        """The claim has ended. Never blocks."""

    def keep(self) -> None:  # noqa: B027 - not every gate has something to prolong
        """Prolong what is held; called every third of a lease."""


class BreakerGate(Gate):
    """Lets everything pass while closed, nothing while open, and probes while half-open."""

    def __init__(self, breaker: Breaker, keep_for: float) -> None:
        super().__init__()
        self.breaker = breaker
        self._keep_for = keep_for
        self._spare: list[str] = []
        self._tokens: dict[Claimed, str] = {}

    def look(self, want: int) -> int:
        circuit, now = self.breaker.circuit(), self.breaker.clock.now()
        self.opens_at = circuit.until
        match circuit.phase(now):
            case Phase.CLOSED:
                return want
            case Phase.OPEN:
                return 0
            case Phase.HALF_OPEN:
                return min(want, circuit.free_probes(now, self.breaker.terms))

    def reserve(self, want: int) -> int:
        circuit = self.breaker.circuit()
        if circuit.until is None:
            return want
        tokens = self.breaker.probe(want, self._keep_for)
        with self._lock:
            self._spare.extend(tokens)
        return len(tokens)

    def bind(self, claim: Claimed) -> None:
        with self._lock:
            if self._spare:
                self._tokens[claim] = self._spare.pop()

    def trim(self) -> None:
        with self._lock:
            spare, self._spare = self._spare, []
        if spare:
            self.breaker.drop(spare)

    def enter(self, claim: Claimed) -> float | None:
        circuit = self.breaker.circuit()
        with self._lock:
            token = self._tokens.get(claim)
        if circuit.until is None or token in circuit.running:
            return None
        tokens = self.breaker.probe(1, self._keep_for)
        if not tokens:
            return 0.0
        with self._lock:
            self._tokens[claim] = tokens[0]
        return None

    def leave(self, claim: Claimed) -> None:
        with self._lock:
            token = self._tokens.pop(claim, None)
            if token is not None:
                # It ended untold: whoever trims next says so.
                self._spare.append(token)

    def tell(
        self, claim: Claimed, failure: Failure | None, *, well: bool, again: bool = False
    ) -> bool:
        """Report how a claim ended; whether its job is excused. `again`: its call was told already.

        It is where nothing tells that the dependency is well, and the first time in any case.
        """
        with self._lock:
            token = self._tokens.get(claim)
        excused = False
        if failure is not None and self.breaker.counts(failure):
            job = claim.job
            excused = self.breaker.failed(failure, token, job.id, again=again)
            excused = excused or job.given_back == 0 or job.error is None
        elif well:
            self.breaker.succeeded(token)
        else:
            return False
        with self._lock:
            self._tokens.pop(claim, None)
        return excused

    def keep(self) -> None:
        self.trim()
        with self._lock:
            tokens = list(self._tokens.values())
        if tokens:
            self.breaker.prolong(tokens, self._keep_for)


class RateGate(Gate):
    """Takes a grant for each job; one that is not used at once is exchanged for a later one."""

    def __init__(self, rate: Rate, wait: Callable[[float], bool]) -> None:
        super().__init__()
        self.rate = rate
        self._wait = wait
        self._spare: list[tuple[float, float]] = []
        self._grants: dict[Claimed, tuple[float, float]] = {}
        self._look_at = 0.0

    def look(self, want: int) -> int:
        clock = self.rate.clock
        shut = self.opens_at is not None and clock.now() < self.opens_at
        if shut and clock.monotonic() < self._look_at:
            return 0
        self._look_at = clock.monotonic() + LOOK_EVERY
        free, self.opens_at = self.rate.look()
        return min(want, free)

    def reserve(self, want: int) -> int:
        given, moment, self.opens_at = self.rate.grant(want)
        with self._lock:
            self._spare.extend([(moment, self.rate.clock.monotonic())] * given)
        return given

    def bind(self, claim: Claimed) -> None:
        with self._lock:
            if self._spare:
                self._grants[claim] = self._spare.pop()

    def trim(self) -> None:
        with self._lock:
            spare, self._spare = self._spare, []
        if spare:
            self.rate.grant(0, [moment for moment, _ in spare])
            self.opens_at = None

    def enter(self, claim: Claimed) -> float | None:
        with self._lock:
            grant = self._grants.pop(claim, None)
        now = self.rate.clock.monotonic()
        if grant is not None and now - grant[1] <= GRACE:
            return None
        back = [] if grant is None else [grant[0]]
        deadline = now + LATE
        while True:
            given, moment, free_at = self.rate.grant(1, back)
            if given:
                return None
            back = []
            pause = max(0.001, free_at - moment)
            if self.rate.clock.monotonic() + pause > deadline or not self._wait(pause):
                return pause

    def leave(self, claim: Claimed) -> None:
        with self._lock:
            grant = self._grants.pop(claim, None)
            if grant is not None:
                self._spare.append(grant)


class PermitGate(Gate):
    """A permit for each live lease. One that is free again is used by this worker's next job."""

    def __init__(self, permits: Permits, keep_for: float) -> None:
        super().__init__()
        self.permits = permits
        self._keep_for = keep_for
        self._used: set[Claimed] = set()

    def look(self, want: int) -> int:
        with self._lock:
            spare = self.permits.held - len(self._used)
        return want if spare >= want else min(want, spare + self.permits.look())

    def reserve(self, want: int) -> int:
        with self._lock:
            self._hold(want)
            return max(0, self.permits.held - len(self._used))

    def bind(self, claim: Claimed) -> None:
        with self._lock:
            if self.permits.held > len(self._used):
                self._used.add(claim)

    def trim(self) -> None:
        with self._lock:
            if self.permits.held > len(self._used):
                self._hold(0)

    def enter(self, claim: Claimed) -> float | None:
        with self._lock:
            if claim in self._used:
                return None
            self._hold(1)
            if self.permits.held <= len(self._used):
                return 0.0
            self._used.add(claim)
            return None

    def leave(self, claim: Claimed) -> None:
        self._used.discard(claim)  # without the lock, which may wait for the store

    def keep(self) -> None:
        with self._lock:
            if self.permits.held:
                self._hold(0)

    def _hold(self, more: int) -> None:
        used = len(self._used)
        if more == 0 or self.permits.held < used + more:
            self.permits.hold(used + more, self._keep_for, least=used)
