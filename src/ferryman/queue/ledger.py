"""Stores that can be the ledger of a channel: it carries ids, and their jobs are claimed by id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ferryman.queue.contract import Backend

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ferryman.job import Job


@dataclass(frozen=True, slots=True)
class Notice:
    """That a job is pending, and from when on it may be claimed: what a channel has to carry."""

    id: str
    queue: str
    priority: int
    ready_at: float


@runtime_checkable
class Ledger(Backend, Protocol):
    """A backend that keeps every job, while something else says which ones to look at."""

    def claim(
        self,
        worker: str,
        ids: Mapping[str, Collection[str]],
        *,
        lease: float,
        turn: int = 0,
        skip_tasks: Collection[str] = (),
    ) -> Sequence[Job]:
        """`poll` for these jobs only, given by the queue that each was announced in; in no order.

        What `poll` would leave alone is left alone: jobs that are not pending or not due, of other
        queues, of paused ones, of tasks to skip, past their deadline, or locked by others.
        """
        ...

    def pending(self, ids: Collection[str]) -> Sequence[Notice]:
        """Those of these jobs that are pending, due or not, in no order."""
        ...
