"""The front door: a store, the tasks declared on it, and the ways to push and to work."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from ferryman.errors import BackendError, Closed, Conflict, TaskError, Unsupported
from ferryman.events import Events
from ferryman.flow.capacity import Capacities
from ferryman.flow.flow import Flow
from ferryman.flow.paced import Paced
from ferryman.message import Message, check_int, encode
from ferryman.pipeline.pipelines import Pipelines
from ferryman.queue.open import open_backend, safe_url
from ferryman.queue.traced import Traced
from ferryman.queue.view import View
from ferryman.tasks.aio import AsyncFerry
from ferryman.tasks.handle import Handles
from ferryman.tasks.options import DEFAULT_PRIORITIES, Options
from ferryman.tasks.passage import is_errand
from ferryman.tasks.tasks import Tasks
from ferryman.worker.own_loop import Queue
from ferryman.worker.parent import is_child
from ferryman.worker.settings import Settings
from ferryman.worker.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from ferryman.clock import Clock
    from ferryman.flow.schedule import Schedule
    from ferryman.pipeline.pipeline import Pipeline
    from ferryman.queue.contract import Backend
    from ferryman.queue.joining import Statement, Style
    from ferryman.tasks.handle import Handle
    from ferryman.tasks.route import Joinable
    from ferryman.tasks.task import Task
    from ferryman.tasks.tracing import Tracing

F = TypeVar("F", bound="Callable[..., object]")

DEFAULT_URL = "sqlite:///ferryman.db"


class Ferry(AsyncFerry, Paced):
    """One store of queues with its tasks.

    Without a URL: the environment's `FERRYMAN_URL`, else `ferryman.db` in the working directory.
    The store is opened at its first use, so that a module that declares tasks can be imported
    anywhere. `priorities` are the labels that `priority=` accepts, as numbers, higher first.
    `task` declares a handler: it is that of `Tasks`.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        clock: Clock | None = None,
        priorities: Mapping[str, int] | None = None,
        lease: float = 60.0,
    ) -> None:
        self.url = url or os.environ.get("FERRYMAN_URL") or DEFAULT_URL
        self.events = Events()
        self.tasks = Tasks()
        self.tasks.join(self)
        self.task = self.tasks.task
        self.pipelines = Pipelines(self.tasks, self._opened)
        self.lease = lease
        self._priorities = dict(DEFAULT_PRIORITIES if priorities is None else priorities)
        self._clock = clock
        self._lock = threading.Lock()
        self._backend: Traced | None = None
        self._closed = False
        self._queues: dict[str, Queue] = {}
        self.flow = Flow(self._opened, self.events)
        self.capacities = Capacities(self.events)
        self.schedules: dict[str, Schedule] = {}
        self.tracing: Tracing | None = None
        self._on_start: list[Callable[[], object]] = []
        self._on_stop: list[Callable[[], object]] = []

    def __repr__(self) -> str:
        return f"Ferry({safe_url(self.url)!r})"

    # -- tasks

    def include(self, tasks: Tasks) -> None:
        """Join a group of tasks that another module declared."""
        tasks.join(self)
        for task in tasks:
            self.tasks.add(task)

    def pipeline(self, name: str, *parts: Joinable) -> Pipeline:
        """Declare stages: `a >> b >> c`; several parts join at the stages they share.

        Refused with a `TaskError`: unknown stages, circles, several first stages, and what one
        stage returns where the next one cannot take it.
        """
        return self.pipelines.declare(name, parts)

    def on(self, event: str) -> Callable[[F], F]:
        """Call a function for each event of that name, such as `job.failed` (`*`: all)."""

        def subscribe(function: F) -> F:
            self.events.subscribe(event, function)
            return function

        return subscribe

    def on_start(self, hook: F) -> F:
        """Call `hook()` when a worker of this Ferry starts; what it raises stops the worker."""
        self._on_start.append(hook)
        return hook

    def on_stop(self, hook: F) -> F:
        """Call `hook()` when a worker of this Ferry has drained."""
        self._on_stop.append(hook)
        return hook

    # -- pushing

    @property
    def priorities(self) -> Mapping[str, int]:
        return self._priorities

    def push(
        self, task: str, payload: Any = None, *, connection: object | None = None, **options: Any
    ) -> Handle[Any]:
        """Hand over a job by its task's name, without importing the handler.

        A task declared here lends its defaults and checks the payload. `connection` is the caller's
        database connection: the job exists from that transaction's commit on.
        """
        known = self.tasks.get(task)
        message = self.message(task, payload, options)
        return self.carry([message], known, connection=connection)[0]

    def message(self, task: str, payload: Any, options: Mapping[str, Any]) -> Message:
        """What `push` would hand over, checked."""
        known = self.tasks.get(task)
        if known is not None:
            return known.message_of(payload, **options)
        fields = Options(queue=task).using(**options).fields(self._priorities)
        return Message(task=task, body=encode(payload), **fields)

    def carry(
        self,
        messages: Sequence[Message],
        task: Task[..., Any] | None = None,
        *,
        connection: object | None = None,
    ) -> Sequence[Handle[Any]]:
        """Push messages as they are; `Conflict` names those refused, the others are accepted."""
        if self.tracing is None:
            return self._carry(messages, task, connection)
        with self.tracing.sending(messages) as marked:
            return self._carry(marked, task, connection)

    def _carry(
        self, messages: Sequence[Message], task: Task[..., Any] | None, connection: object | None
    ) -> Sequence[Handle[Any]]:
        backend = self.backend
        limits = self.capacities.limits(messages)
        pushed = backend.push(messages, connection=connection, limits=limits)
        if refused := tuple([one.id for one in pushed if one.status == "conflict"]):
            others = f"; the other {len(pushed) - len(refused)} were accepted"
            raise Conflict(
                f"job {refused[0]!r} exists with another body"
                f"{others if len(pushed) > 1 else ''}: use another id, or replace=True",
                ids=refused,
            )
        if limits and (full := self.capacities.refused(messages, pushed)) is not None:
            raise full
        if self.events.wanted("job.pushed"):
            for message, one in zip(messages, pushed, strict=True):
                self.events.emit("job.pushed", message=message, id=one.id, created=one.created)
        if limits:
            # The jobs are accepted: that they could not be counted is no reason to say otherwise.
            with suppress(BackendError):
                self.capacities.watch(backend, limits)
        read = None if task is None else task.signature.read_result
        return Handles(pushed, self._opened, read)

    def push_statement(self, message: Message, style: Style = "numeric") -> Statement:
        """A push as SQL and its values, for drivers that are not ours (PostgreSQL).

        `message` comes from `task.message(…)`. The statement answers the job's id and whether it
        was created; the job exists from the commit on. `style` is how the driver writes
        parameters: "numeric" (`$1`, asyncpg) or "format" (`%s`, psycopg).
        """
        return self._opened().push_statement(message, style)

    # -- working

    def queue(self, name: str) -> Queue:
        """The seeds' four verbs on one queue, for those who want the loop themselves."""
        with self._lock:
            known = self._queues.get(name)
        if known is not None:
            return known
        queue = Queue(name, self, lease=self.lease)
        with self._lock:
            return self._queues.setdefault(name, queue)

    def worker(
        self,
        queues: Mapping[str, int] | None = None,
        settings: Settings | None = None,
        *,
        app: str | None = None,
    ) -> Worker:
        """A worker for these queues (name to slots); without any, one slot for each known.

        `app` is where a child process finds this Ferry, as `module:attribute`; without it, a child
        imports `__main__` and the module of the task.
        """
        chosen = queues or dict.fromkeys(sorted({t.options.queue for t in self.tasks}), 1)
        return Worker(
            self.backend,
            self.tasks,
            chosen,
            events=self.events,
            settings=settings or Settings(lease=self.lease),
            on_start=self._on_start,
            on_stop=self._on_stop,
            app=None if app is None else (app, self.url),
            flow=self.flow,
            schedules=tuple(self.schedules.values()),
            capacities=self.capacities,
            tracing=self.tracing,
        )

    def run_batch(
        self, limit: int = 10, *, stage: str | None = None, slots: int = 1
    ) -> Mapping[str, int]:
        """Run at most `limit` due jobs in this process, then return: for those driven by cron.

        Of one `stage` (a task's name) or of all, `slots` of each queue at a time. Answers how many
        were `processed`, `succeeded` and `failed`; a failed attempt counts, tried again or not, and
        one that was given back is processed only.
        """
        check_int("limit", limit, 1, 1_000_000)
        check_int("slots", slots, 1, 1_000)
        task = None if stage is None else self.tasks.get(stage)
        if stage is not None and task is None:
            raise TaskError(f"no task is named {stage!r} here")
        queues = {each.options.queue for each in ([*self.tasks] if task is None else [task])}
        others = [] if task is None else [each.name for each in self.tasks if each.name != stage]
        others = [name for name in others if not is_errand(name)]
        worker = self.worker(dict.fromkeys(sorted(queues), slots))
        return worker.run_batch(limit, others).counts

    # -- the store

    def view(
        self,
        name: str,
        queue: str,
        columns: Mapping[str, str | Mapping[str, str]],
        *,
        task: str | None = None,
    ) -> None:
        """Show a queue as a table of this name to whoever queries the database (SQL backends).

        A column is a field of the job (`attempts`), a place in a document with a type
        (`payload.year:integer`), or other names for the states (`{"processing": "running"}`). Rows
        inserted there are pushed (PostgreSQL) as jobs of `task`; default: the queue's only task.
        """
        tasks = [each.name for each in self.tasks if each.options.queue == queue]
        work = task or (tasks[0] if len(tasks) == 1 else queue)
        self._opened().create_view(View.of(name, queue, columns, work))

    @property
    def backend(self) -> Backend:
        """The store, opened now if it was not yet."""
        return self._backend or self._opened()

    def _opened(self) -> Traced:
        with self._lock:
            if self._backend is None:
                if self._closed:
                    raise Closed(f"{self!r} was closed: make another to go on with the same store")
                opened = open_backend(self.url, self._clock)
                if is_child() and not opened.capabilities.shared:
                    raise Unsupported(
                        f"{safe_url(self.url)} lives in the worker's process, and this handler "
                        "runs in a child of it: use a store that processes can share, such as "
                        "sqlite:///jobs.db, or executor='thread'"
                    )
                self._backend = Traced(opened, self.events)
            return self._backend

    def switch(self, url: str) -> None:
        """Use another store from now on, and free the connections to the one before."""
        self._leave()
        self.url = url

    def close(self) -> None:
        """Give back what `queue.poll` still holds and free the store's connections, for good.

        Whoever uses it afterwards gets `Closed`: a job must not land in a store that nobody
        looks into any more.
        """
        self._closed = True
        self._leave()

    def _leave(self) -> None:
        for queue in list(self._queues.values()):
            queue.close()
        with self._lock:
            backend, self._backend = self._backend, None
            self._queues.clear()
        if backend is not None:
            backend.close()

    def __enter__(self) -> Ferry:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
