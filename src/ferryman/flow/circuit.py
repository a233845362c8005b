"""The states of a breaker and the ways between them. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ferryman.errors import InvalidMessage, TaskError
from ferryman.message import check_int, check_seconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_PROBLEM = 500
MAX_SUSPECTS = 50


class Phase(StrEnum):
    """Closed: calls pass. Open: none does. Half-open: a few try whether it works again."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True, slots=True)
class Terms:
    """When a breaker opens and how it closes: so many failures in a row open it for `cooldown`
    seconds; then at most `probes` calls at a time try, of which the first to report decides."""

    threshold: int = 5
    cooldown: float = 300.0
    probes: int = 3

    def __post_init__(self) -> None:
        try:
            check_int("threshold", self.threshold, 1, 1_000_000)
            check_int("probes", self.probes, 1, 1_000)
            check_seconds("cooldown", self.cooldown, above_zero=True)
        except InvalidMessage as error:
            raise TaskError(f"breaker: {error}") from None


@dataclass(frozen=True, slots=True)
class Circuit:
    """A breaker at one moment. `until` None is closed; `running` are the probes under way, each
    with the moment from which it counts as lost; `suspects` are the jobs that have failed since the
    last success. Times are the store's."""

    failures: int = 0
    until: float | None = None
    running: Mapping[str, float] = field(default_factory=dict)
    changed_at: float | None = None
    problem: str | None = None
    suspects: tuple[str, ...] = ()

    def phase(self, now: float) -> Phase:
        if self.until is None:
            return Phase.CLOSED
        return Phase.OPEN if now < self.until else Phase.HALF_OPEN

    def free_probes(self, now: float, terms: Terms) -> int:
        """How many more calls may try; lost probes are not waited for."""
        return max(0, terms.probes - len(self._alive(now)))

    def probe(self, tokens: Sequence[str], now: float, lost_at: float) -> Circuit:
        """Half-open, with these probes under way as well."""
        return replace(self, running={**self._alive(now), **dict.fromkeys(tokens, lost_at)})

    def without(self, tokens: Sequence[str]) -> Circuit:
        """These probes ended without telling anything."""
        left = {token: at for token, at in self.running.items() if token not in tokens}
        return replace(self, running=left)

    def failed(
        self,
        token: str | None,
        problem: str,
        now: float,
        terms: Terms,
        suspect: str | None = None,
        *,
        again: bool = False,
    ) -> Circuit:
        """After a call that failed. One that began before the breaker opened says nothing new.

        `again`: one that was counted already, for another job.
        """
        phase = self.phase(now)
        told = problem[:MAX_PROBLEM]
        if phase is Phase.CLOSED:
            others = [job for job in self.suspects if job != suspect]
            suspects = (*others, suspect)[-MAX_SUSPECTS:] if suspect else self.suspects
            number = self.failures + (0 if again else 1)
            counted = replace(self, failures=number, problem=told, suspects=suspects)
            return counted._opened(now, terms) if counted.failures >= terms.threshold else counted
        if token in self.running:
            return replace(self, failures=self.failures + 1, problem=told)._opened(now, terms)
        return self

    def succeeded(self, token: str | None, now: float) -> Circuit:
        """After a call that went well: it resets a closed breaker, a probe closes it."""
        if self.until is None:
            return replace(self, failures=0, suspects=()) if self.failures else self
        return Circuit(changed_at=now) if token in self.running else self

    def document(self) -> dict[str, Any]:
        return {
            "failures": self.failures,
            "until": self.until,
            "running": dict(self.running),
            "changed_at": self.changed_at,
            "problem": self.problem,
            "suspects": self.suspects,
        }

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Circuit:
        return cls(
            failures=int(document.get("failures", 0)),
            until=document.get("until"),
            running=dict(document.get("running") or {}),
            changed_at=document.get("changed_at"),
            problem=document.get("problem"),
            suspects=tuple(document.get("suspects", ())),
        )

    def _opened(self, now: float, terms: Terms) -> Circuit:
        return replace(self, until=now + terms.cooldown, running={}, changed_at=now, suspects=())

    def _alive(self, now: float) -> dict[str, float]:
        return {token: at for token, at in self.running.items() if at > now}
