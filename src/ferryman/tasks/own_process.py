"""A task's wish to run in a child process, and how long one child is used."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ferryman.errors import TaskError

if TYPE_CHECKING:
    from collections.abc import Callable

Where = Literal["thread", "process"]


@dataclass(frozen=True, slots=True)
class OwnProcess:
    """Run in a child process, which is replaced after a number of jobs or above a size.

    `recycle_after` counts the jobs that one child ran; `max_memory_mib` is its resident memory in
    MiB, looked at after each job. None: no such limit.
    """

    recycle_after: int | None = None
    max_memory_mib: float | None = None

    @classmethod
    def wanted(
        cls, executor: str, recycle_after: int | None, max_memory_mib: float | None
    ) -> OwnProcess | None:
        """What the options of a task say; None: it runs in the worker's own process."""
        if executor not in ("thread", "process"):
            raise TaskError(f"executor={executor!r}: use 'thread' or 'process'")
        for name, limit in (("recycle_after", recycle_after), ("max_memory_mib", max_memory_mib)):
            if limit is not None and executor == "thread":
                raise TaskError(f"{name} is for executor='process': a thread cannot be recycled")
            if limit is not None and not limit >= 1:
                raise TaskError(f"{name} must be 1 or more, got {limit}")
        return cls(recycle_after, max_memory_mib) if executor == "process" else None

    def used_up(self, jobs: int, resident_mib: Callable[[], float]) -> bool:
        """Whether a child that ran so many jobs should make room for a new one."""
        if self.recycle_after is not None and jobs >= self.recycle_after:
            return True
        return self.max_memory_mib is not None and resident_mib() > self.max_memory_mib


def check_findable(handler: Callable[..., Any], name: str) -> None:
    """Refuse a handler that a child process could not run or find by its module and name."""
    if inspect.iscoroutinefunction(handler):
        raise TaskError(
            f"task {name!r}: executor='process' is for def; an async def runs on the event loop"
        )
    qualname = getattr(handler, "__qualname__", "<lambda>")
    if "<" in qualname:
        raise TaskError(
            f"task {name!r}: a child process finds its handler by importing its module, "
            f"and {qualname} cannot be found so: define it with def at the top of a module"
        )
