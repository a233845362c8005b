"""Everything Ferryman raises, so that a caller can act on the class alone.

FerrymanError
├── InvalidMessage          also a ValueError: the message was refused, nothing was written
├── InvalidFilter           also a ValueError
├── InvalidView             also a ValueError: a view of a queue that cannot be made so
├── Conflict                the id or key is taken by another body
├── QueueFull               the queue is at capacity; try again later
├── BreakerOpen             what is to be called fails; try again later
├── NotFound                also a LookupError: nothing in the store has this id or name
│   ├── NameNotFound
│   └── JobNotFound
├── NotAllowed              the job's state does not allow this act
├── LeaseLost               the claim is no longer ours
├── Unsupported             this backend cannot do that; the text names the way out
├── Closed                  the Ferry was closed; nothing was written
├── BlockingCall            a blocking verb was called on the worker's event loop
├── TaskError               a task was declared or named wrongly
├── JobFailed, JobCancelled what `handle.result()` raises for such an end
├── StillUnfinished         also a TimeoutError: `wait` ran out of time
└── BackendError
    ├── BackendUnavailable  passing: back off and try again
    │   └── OutcomeUnknown  the write happened zero or one times; repeat it with the same id
    └── BackendRejected     lasting: not our store, newer schema, read-only, corrupt
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class FerrymanError(Exception):
    """Base of every error that Ferryman raises on purpose."""


class InvalidMessage(FerrymanError, ValueError):
    """A message was refused before anything was written; `field` names the culprit."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class InvalidFilter(FerrymanError, ValueError):
    """A filter could not be read; the text says where and what is allowed."""


class InvalidView(FerrymanError, ValueError):
    """A view of a queue cannot be made so; the text says what is wrong with it."""


class Conflict(FerrymanError):
    """The id or key already belongs to a job with another body."""

    def __init__(self, text: str, *, ids: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.ids = ids


class QueueFull(FerrymanError):
    """The queue is at its capacity; `retry_after` seconds are a good time to try again.

    `tenant` is set where only that one has used up its share of the queue.
    `ids` are those of the messages that were not written; others of the same push were.
    """

    def __init__(
        self,
        queue: str,
        capacity: int,
        retry_after: float,
        *,
        tenant: str | None = None,
        ids: tuple[str, ...] = (),
    ) -> None:
        whose = "" if tenant is None else f" for tenant {tenant!r}"
        super().__init__(
            f"queue {queue!r} is full{whose} ({capacity} jobs); retry in {retry_after:g} s"
        )
        self.tenant = tenant
        self.ids = ids
        self.queue = queue
        self.capacity = capacity
        self.retry_after = retry_after


class BreakerOpen(FerrymanError):
    """A dependency fails, so it is not called; `retry_after` seconds are a good time to try."""

    def __init__(self, breaker: str, retry_after: float, problem: str | None = None) -> None:
        why = f" after {problem}" if problem else ""
        super().__init__(f"breaker {breaker!r} is open{why}; retry in {retry_after:g} s")
        self.breaker = breaker
        self.retry_after = retry_after


class NotFound(FerrymanError, LookupError):
    """Nothing in the store has this id or name."""


class NameNotFound(NotFound):
    """Nothing in the store has this name; the text proposes the nearest that is `known`."""

    def __init__(self, problem: str, name: str, known: Iterable[str], otherwise: str) -> None:
        # Imported late: the module costs a start-up milliseconds, and few programs come here.
        from difflib import get_close_matches

        close = get_close_matches(name, list(known), 1)
        super().__init__(f"{problem}: {f'did you mean {close[0]!r}?' if close else otherwise}")
        self.name = name


class JobNotFound(NotFound):
    """No job has this id: never pushed, or already pruned or deleted."""

    def __init__(self, job_id: str) -> None:
        super().__init__(f"no job {job_id!r}: never pushed here, or pruned since")
        self.job_id = job_id


class NotAllowed(FerrymanError):
    """The job's present state does not allow this act."""


class LeaseLost(FerrymanError):
    """The claim is no longer ours, so nothing was recorded; another worker may hold the job."""

    def __init__(self, job_id: str, fence: int) -> None:
        super().__init__(
            f"job {job_id!r}: the lease of claim {fence} is lost, nothing was recorded"
        )
        self.job_id = job_id
        self.fence = fence


class Unsupported(FerrymanError):
    """This backend cannot do that; the text names the backend and the way out."""


class Closed(FerrymanError):
    """The Ferry was closed, so nothing was written or read; make another."""


class BlockingCall(FerrymanError):
    """A blocking verb was called on the worker's event loop; use its `a…` twin with await."""


class TaskError(FerrymanError):
    """A task was declared, named or joined wrongly."""


class JobFailed(FerrymanError):
    """The job ended in `failed`; the text is its last error."""


class JobCancelled(FerrymanError):
    """The job ended in `cancelled`, so it has no result."""


class StillUnfinished(FerrymanError, TimeoutError):
    """The job had not finished when the waiting time was over; it goes on unharmed."""


class BackendError(FerrymanError):
    """The store did not do what was asked."""


class BackendUnavailable(BackendError):
    """The store cannot be reached or is busy; nothing was written. Back off and try again."""


class OutcomeUnknown(BackendUnavailable):
    """The store broke off in the middle of a write: it happened zero or one times."""


class BackendRejected(BackendError):
    """The store refuses for good: not ours, of a newer schema, read-only, full or corrupt."""
