"""Several jobs in one call of their handler."""

from __future__ import annotations

from asyncio import CancelledError
from typing import TYPE_CHECKING, Any, Protocol

from ferryman.errors import LeaseLost
from ferryman.outcomes import Fail, Outcome
from ferryman.worker.claim import Stopped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.queue.settlement import Settlement
    from ferryman.tasks.task import Task
    from ferryman.worker.claim import Claim


class Ends(Protocol):
    """Who knows what a claim's handler is given, and turns what it said into a settlement."""

    def arguments(self, claim: Claim, task: Task[..., Any]) -> dict[str, Any]: ...

    def said(self, claim: Claim, task: Task[..., Any], value: Any) -> Settlement: ...

    def give_back(self, claim: Claim) -> Settlement: ...


class Batch:
    """The claims of one call: their arguments as lists, and the ends that it brings them.

    A job whose payload does not fit ends by itself; the others are run.
    """

    def __init__(self, executor: Ends, claims: Sequence[Claim], task: Task[..., Any]) -> None:
        self._executor = executor
        self._all = claims
        self._task = task
        self._ends: dict[Claim, Settlement] = {}
        self.claims: list[Claim] = []
        rows: list[dict[str, Any]] = []
        for claim in claims:
            try:
                rows.append(executor.arguments(claim, task))
            except Outcome as unfit:
                self._end(claim, unfit)
            else:
                self.claims.append(claim)
        self.arguments = {name: [row[name] for row in rows] for name in rows[0]} if rows else {}

    @property
    def ends(self) -> Sequence[Settlement]:
        """One for each claim, in their order."""
        return [self._ends[claim] for claim in self._all]

    def said(self, value: Any) -> Sequence[Settlement]:
        """The handler returned: None, an outcome for all, or a list with a value for each."""
        values = value if isinstance(value, list) else [value] * len(self.claims)
        if not isinstance(value, list | Outcome | None) or len(values) != len(self.claims):
            told = f"{len(value)} values" if isinstance(value, list) else type(value).__name__
            wanted = f"None or a list of {len(self.claims)}, one for each job"
            values = [Fail(f"its handler returned {told}: return {wanted}")] * len(self.claims)
        for claim, one in zip(self.claims, values, strict=True):
            self._end(claim, one)
        return self.ends

    def raised(self, error: BaseException) -> Sequence[Settlement]:
        """The handler raised: that is the end of all, but for the stop of one of them."""
        stops = isinstance(error, Stopped | LeaseLost | CancelledError)
        stopped = stops and any(claim.stopping for claim in self.claims)
        for claim in self.claims:
            if stopped and not claim.stopping:
                self._ends[claim] = self._executor.give_back(claim)
            else:
                self._end(claim, error)
                # It was one call: who counts failures can see that.
                claim.failure = self.claims[0].failure
        return self.ends

    def _end(self, claim: Claim, value: Any) -> None:
        self._ends[claim] = self._executor.said(claim, self._task, value)
