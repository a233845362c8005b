"""A group of tasks, which a module can declare before any Ferry exists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from ferryman.errors import TaskError
from ferryman.outcomes import Retry
from ferryman.tasks.limits import Limits
from ferryman.tasks.options import DEFAULT_PRIORITIES, DEFAULT_TIMEOUT, Options
from ferryman.tasks.own_process import OwnProcess
from ferryman.tasks.passage import is_errand
from ferryman.tasks.task import Task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ferryman.message import Message
    from ferryman.tasks.decorator import BatchDecorator, Decorator
    from ferryman.tasks.handle import Handle
    from ferryman.tasks.options import Seconds
    from ferryman.tasks.own_process import Where
    from ferryman.tasks.passage import Passage
    from ferryman.tasks.tracing import Tracing

T = TypeVar("T")


class Carrier(Protocol):
    """Who takes messages to a store: the Ferry that a group has joined."""

    @property
    def priorities(self) -> Mapping[str, int]: ...

    @property
    def tracing(self) -> Tracing | None: ...

    def carry(
        self,
        messages: Sequence[Message],
        task: Task[..., Any] | None,
        *,
        connection: object | None = None,
    ) -> Sequence[Handle[Any]]: ...


class Tasks:
    """Tasks by name. `ferry.include(tasks)` joins them to a Ferry; until then they cannot push."""

    def __init__(self) -> None:
        self.passage: Passage | None = None
        self._tasks: dict[str, Task[..., Any]] = {}
        self._carrier: Carrier | None = None

    @overload
    def task(
        self,
        *,
        batch: int,
        name: str | None = None,
        queue: str = "default",
        retry: Retry | None = None,
        timeout: Seconds = DEFAULT_TIMEOUT,
        priority: int | str = 0,
        version: int = 1,
        needs: Sequence[str] = (),
        rate: str | Sequence[str] = (),
        concurrency: int | None = None,
        per: str | None = None,
        feeds: Sequence[str] = (),
    ) -> BatchDecorator: ...
    @overload
    def task(
        self,
        *,
        name: str | None = None,
        queue: str = "default",
        retry: Retry | None = None,
        timeout: Seconds = DEFAULT_TIMEOUT,
        priority: int | str = 0,
        version: int = 1,
        executor: Where = "thread",
        recycle_after: int | None = None,
        max_memory_mib: float | None = None,
        needs: Sequence[str] = (),
        rate: str | Sequence[str] = (),
        concurrency: int | None = None,
        per: str | None = None,
        feeds: Sequence[str] = (),
    ) -> Decorator: ...
    def task(
        self,
        *misplaced: object,
        name: str | None = None,
        queue: str = "default",
        retry: Retry | None = None,
        timeout: Seconds = DEFAULT_TIMEOUT,
        priority: int | str = 0,
        version: int = 1,
        executor: Where = "thread",
        recycle_after: int | None = None,
        max_memory_mib: float | None = None,
        needs: Sequence[str] = (),
        rate: str | Sequence[str] = (),
        concurrency: int | None = None,
        per: str | None = None,
        batch: int | None = None,
        feeds: Sequence[str] = (),
    ) -> Any:
        """Declare a handler, `def` or `async def`.

        `name` is the function's own unless given; `timeout` is seconds for one attempt;
        `version` numbers the payload's shape (see `Task.upcaster`). A `def` runs in a thread of the
        worker, or with `executor="process"` in a child process, which is replaced after
        `recycle_after` jobs or when it holds more than `max_memory_mib` MiB after one. `feeds` are
        queues that it pushes to: while one of them is full, no job of this task is claimed.

        Over all workers: `needs` are breakers; while one is open its jobs are not claimed. `rate`
        is how often a job may start (`"15/m"`, several as a list, or a declared rate's name),
        `concurrency` how many run at once: of all, or `per` value at a place such as
        `payload.user.id` or `meta.user_id`, then in push order.

        `batch` jobs at most are run in one call: each parameter is a list then, and what is
        returned is None or a list with an end for each job.
        """
        if misplaced:
            raise TaskError(
                f"task takes its options by name, got {misplaced[0]!r}: write @ferry.task() with "
                "parentheses, or @ferry.task(queue=…)"
            )
        limits = Limits.of(needs=needs, rate=rate, concurrency=concurrency, per=per, batch=batch)
        process = OwnProcess.wanted(executor, recycle_after, max_memory_mib)
        if isinstance(feeds, str):
            raise TaskError(f"feeds must be a list of queues, such as [{feeds!r}]")
        options = Options(queue=queue, retry=retry or Retry(), timeout=timeout, priority=priority)
        options.fields({priority: 0} if isinstance(priority, str) else {})

        def declare(handler: Callable[..., Any]) -> Task[..., Any]:
            chosen = name or handler.__name__
            if is_errand(chosen):
                raise TaskError(f"{chosen!r}: this name is the engine's, give it another")
            task: Task[..., Any] = Task(
                handler,
                name=chosen,
                options=options,
                tasks=self,
                version=version,
                process=process,
                limits=limits,
                feeds=feeds,
            )
            self.add(task)
            return task

        return declare

    def add(self, task: Task[..., Any]) -> None:
        if (other := self._tasks.get(task.name)) is not None and other.handler is not task.handler:
            raise TaskError(
                f"two handlers are named {task.name!r}: give one of them another with name=…"
            )
        self._tasks[task.name] = task

    def get(self, name: str) -> Task[..., Any] | None:
        return self._tasks.get(name)

    def __iter__(self) -> Iterator[Task[..., Any]]:
        return iter(list(self._tasks.values()))

    def __len__(self) -> int:
        return len(self._tasks)

    def join(self, carrier: Carrier) -> None:
        """Push through this Ferry from now on."""
        if self._carrier not in (None, carrier):
            raise TaskError("these tasks have already joined another Ferry")
        self._carrier = carrier

    @property
    def joined(self) -> bool:
        return self._carrier is not None

    @property
    def tracing(self) -> Tracing | None:
        return None if self._carrier is None else self._carrier.tracing

    @property
    def priorities(self) -> Mapping[str, int]:
        return DEFAULT_PRIORITIES if self._carrier is None else self._carrier.priorities

    def push(self, messages: Sequence[Message], task: Task[..., Any]) -> Sequence[Handle[Any]]:
        if self._carrier is None:
            raise TaskError(f"task {task.name!r} has joined no Ferry: call ferry.include(tasks)")
        return self._carrier.carry(messages, task)
