"""The `a…` verbs for async callers: one line each, over the same sync code.

They run on threads of their own, never on asyncio's default executor, which user code may fill.
`Handle.wait` has no twin, because `await` is a keyword: `await handle.aresult(timeout)` waits.
"""

from __future__ import annotations

import asyncio
import contextvars
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ferryman.job import Job, State
    from ferryman.tasks.handle import Handle

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


async def offload(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a blocking call on a Ferryman thread, with the caller's context variables."""
    context = contextvars.copy_context()
    bound = partial(context.run, partial(call, *args, **kwargs))
    return await asyncio.get_running_loop().run_in_executor(_executor(), bound)


@cache
def _executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(16, thread_name_prefix="ferryman-async")


class AsyncTask(Generic[P, R]):
    """`a…` twins of `Task`."""

    if TYPE_CHECKING:

        def push(self, *args: P.args, **kwargs: P.kwargs) -> Handle[R]: ...

        def push_many(self, items: Iterable[Any]) -> Sequence[Handle[R]]: ...

    async def apush(self, *args: P.args, **kwargs: P.kwargs) -> Handle[R]:
        return await offload(self.push, *args, **kwargs)

    async def apush_many(self, items: Iterable[Any]) -> Sequence[Handle[R]]:
        return await offload(self.push_many, items)


class AsyncHandle(Generic[R]):
    """`a…` twins of `Handle`."""

    __slots__ = ()

    if TYPE_CHECKING:

        def job(self) -> Job: ...

        def status(self) -> State: ...

        def result(self, timeout: float | None = None) -> R: ...

    async def ajob(self) -> Job:
        return await offload(self.job)

    async def astatus(self) -> State:
        return await offload(self.status)

    async def aresult(self, timeout: float | None = None) -> R:  # noqa: ASYNC109 - its twin's
        return await offload(self.result, timeout)


class AsyncFerry:
    """`a…` twins of `Ferry`."""

    if TYPE_CHECKING:

        def push(
            self,
            task: str,
            payload: Any = None,
            *,
            connection: object | None = None,
            **options: Any,
        ) -> Handle[Any]: ...

    async def apush(
        self, task: str, payload: Any = None, *, connection: object | None = None, **options: Any
    ) -> Handle[Any]:
        return await offload(self.push, task, payload, connection=connection, **options)


class AsyncQueue:
    """`a…` twins of `Queue`, the loop that a user drives."""

    if TYPE_CHECKING:

        def push(self, payload: Any = None, **options: Any) -> Handle[Any]: ...

        def poll(self, batch_size: int = 1, *, wait: float = 0.0) -> Sequence[Job]: ...

        def ack(self, job: Job, result: Any = None) -> None: ...

        def nack(
            self, job: Job, error: str = "given back by nack", *, delay: float | None = None
        ) -> None: ...

    async def apush(self, payload: Any = None, **options: Any) -> Handle[Any]:
        return await offload(self.push, payload, **options)

    async def apoll(self, batch_size: int = 1, *, wait: float = 0.0) -> Sequence[Job]:
        return await offload(self.poll, batch_size, wait=wait)

    async def aack(self, job: Job, result: Any = None) -> None:
        await offload(self.ack, job, result)

    async def anack(
        self, job: Job, error: str = "given back by nack", *, delay: float | None = None
    ) -> None:
        await offload(self.nack, job, error, delay=delay)
