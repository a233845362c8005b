"""What a push gives back: the job's id, and the ways to look at it and wait for it."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from ferryman.errors import JobCancelled, JobFailed, JobNotFound, StillUnfinished
from ferryman.job import Job, State
from ferryman.tasks.aio import AsyncHandle

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman.queue.answers import Pushed
    from ferryman.queue.contract import Backend

R = TypeVar("R")

_FIRST_PAUSE = 0.002
_LONGEST_PAUSE = 0.2


class Handle(AsyncHandle[R], Generic[R]):
    """A job that was pushed. `created` is False when the id or key already had a job."""

    __slots__ = ("_backend", "_read_result", "created", "id")

    def __init__(
        self,
        job_id: str,
        backend: Callable[[], Backend],
        created: bool = True,
        read_result: Callable[[str | None], Any] | None = None,
    ) -> None:
        self.id = job_id
        self.created = created
        self._backend = backend
        self._read_result = read_result

    def __repr__(self) -> str:
        return f"Handle({self.id!r}, created={self.created})"

    def __eq__(self, other: object) -> bool:
        """Whether it is a handle of the same job in the same store."""
        return isinstance(other, Handle) and (other.id, other._backend) == (self.id, self._backend)

    def __hash__(self) -> int:
        return hash(self.id)

    def job(self) -> Job:
        """The job as it is now, with errors and logs."""
        job = self._backend().get(self.id)
        if job is None:
            raise JobNotFound(self.id)
        return job

    def status(self) -> State:
        """The job's state now."""
        return self.job().state

    def wait(self, timeout: float | None = None) -> Job:
        """Block until the job is finished; `StillUnfinished` after `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        pause = _FIRST_PAUSE
        while not (job := self.job()).state.terminal:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise StillUnfinished(f"job {self.id!r} is still {job.state} after {timeout:g} s")
            time.sleep(pause if left is None else min(pause, left))
            pause = min(pause * 1.5, _LONGEST_PAUSE)
        return job

    def result(self, timeout: float | None = None) -> R:
        """Wait, then what the handler returned; raises `JobFailed` or `JobCancelled` otherwise."""
        job = self.wait(timeout)
        if job.state is State.FAILED:
            raise JobFailed(f"job {self.id!r} failed: {job.error or 'no error was recorded'}")
        if job.state is State.CANCELLED:
            raise JobCancelled(f"job {self.id!r} was cancelled: {job.error or 'by an operator'}")
        read = self._read_result or _plain
        return read(job.result)  # type: ignore[no-any-return]


class Handles(Sequence[Handle[R]]):
    """The handles of many pushes; each is made when it is looked at, which most never are.

    They equal any sequence of equal handles, so like a list they have no hash.
    """

    def __init__(
        self,
        pushed: Sequence[Pushed],
        backend: Callable[[], Backend],
        read_result: Callable[[str | None], Any] | None = None,
    ) -> None:
        self._pushed = pushed
        self._backend = backend
        self._read_result = read_result

    def __repr__(self) -> str:
        return f"<Handles of {len(self)} jobs>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self._pushed)

    @overload
    def __getitem__(self, place: int) -> Handle[R]: ...

    @overload
    def __getitem__(self, place: slice) -> Handles[R]: ...

    def __getitem__(self, place: int | slice) -> Handle[R] | Handles[R]:
        if isinstance(place, slice):
            return Handles(self._pushed[place], self._backend, self._read_result)
        one = self._pushed[place]
        return Handle(one.id, self._backend, one.created, self._read_result)


def _plain(text: str | None) -> Any:
    return None if text is None else json.loads(text)
