"""A handler under a name, with how its jobs are pushed and run."""

from __future__ import annotations

import inspect
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from ferryman.errors import InvalidMessage, TaskError
from ferryman.message import MAX_NAME, Message, check_name, encode
from ferryman.tasks.aio import AsyncTask
from ferryman.tasks.batch_signature import BatchSignature
from ferryman.tasks.limits import NO_LIMITS
from ferryman.tasks.options import Options, optional_seconds
from ferryman.tasks.own_process import OwnProcess, check_findable
from ferryman.tasks.route import Joinable, Route
from ferryman.tasks.signature import Signature

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ferryman.job import Job
    from ferryman.tasks.handle import Handle
    from ferryman.tasks.limits import Limits
    from ferryman.tasks.tasks import Tasks
    from ferryman.tasks.tracing import Tracing

P = ParamSpec("P")
R = TypeVar("R")
_OWN: Any = object()


class Task(AsyncTask[P, R], Generic[P, R]):
    """A declared handler. Calling it runs the function here and now; `push` hands it over."""

    def __init__(
        self,
        handler: Callable[..., Any],
        *,
        name: str,
        options: Options,
        tasks: Tasks,
        version: int = 1,
        process: OwnProcess | None = None,
        limits: Limits = NO_LIMITS,
        feeds: Sequence[str] = (),
    ) -> None:
        check_name("task", name, MAX_NAME)
        if process is not None:
            check_findable(handler, name)
            if limits.batch is not None:
                raise TaskError(f"task {name!r}: batch= is for handlers in threads or on the loop")
        self.name = name
        self.handler = handler
        self.options = options
        self.version = version
        self.timeout = optional_seconds("timeout", options.timeout)
        self.is_async = inspect.iscoroutinefunction(handler) or inspect.isasyncgenfunction(handler)
        self.process = process
        self.limits = limits
        self.feeds = tuple(feeds)
        reading = Signature if limits.batch is None else BatchSignature
        self.signature = reading(handler, name)
        self._tasks = tasks
        self._upcasters: dict[int, Callable[[Any], Any]] = {}
        self._pattern: Message | None = None
        update_wrapper(self, handler)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.handler(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<Task {self.name!r} on queue {self.options.queue!r}>"

    def __rshift__(self, following: Joinable) -> Route:
        """`a >> b`: in a pipeline, what `a` returns is the input of `b`."""
        return Route.of(self) >> following

    def __rrshift__(self, preceding: Joinable) -> Route:
        return Route.of(preceding) >> self

    @property
    def tracing(self) -> Tracing | None:
        """Who puts spans around its handler: the Ferry that it has joined knows."""
        return self._tasks.tracing

    def push(self, *args: P.args, **kwargs: P.kwargs) -> Handle[R]:
        """Hand over one job with these arguments; the job's own parameter is left out."""
        return self._tasks.push([self.message(*args, **kwargs)], self)[0]

    def push_many(self, items: Iterable[Any]) -> Sequence[Handle[R]]:
        """Hand over a job for each item: its arguments as a tuple or a dict, or its only one."""
        return self._tasks.push(self._messages_for(items), self)

    def using(self, **options: Any) -> Task[P, R]:
        """The same task with other `Options` for what is pushed through it."""
        twin: Task[P, R] = Task.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.options = self.options.using(**options)
        twin._pattern = None
        return twin

    def message(self, *args: Any, **kwargs: Any) -> Message:
        """The message that `push` would hand over, checked."""
        return self._message(self.signature.payload(args, kwargs))

    def message_of(self, payload: Any, **options: Any) -> Message:
        """A message with a ready-made payload, checked against the parameters."""
        self.signature.check(payload)
        return self.using(**options)._message(payload)

    def unfilled(self, message_id: str) -> Message:
        """A message without a payload: a pipeline gives the handler what it takes."""
        return self.using(id=message_id)._message(None)

    def upcaster(self, from_version: int) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
        """Declare how a payload of `from_version` becomes one of the next version."""

        def declare(upcast: Callable[[Any], Any]) -> Callable[[Any], Any]:
            if not 1 <= from_version < self.version:
                raise TaskError(
                    f"task {self.name!r} is version {self.version}: nothing leads there"
                )
            self._upcasters[from_version] = upcast
            return upcast

        return declare

    def arguments(self, job: Job, payload: Any = _OWN) -> dict[str, Any]:
        """Keyword arguments for the handler; older payloads are brought up to this version.

        `payload` takes the place of the job's own.
        """
        payload = job.payload if payload is _OWN else payload
        for version in range(job.version, self.version):
            upcast = self._upcasters.get(version)
            if upcast is None:
                raise InvalidMessage(
                    "version", f"task {self.name!r} has no upcaster from {version} to {version + 1}"
                )
            payload = upcast(payload)
        return self.signature.arguments(payload, job)

    def message_for(self, item: Any) -> Message:
        """The message of one of `push_many`'s items."""
        return self._message(self._payload_for(item))

    def _messages_for(self, items: Iterable[Any]) -> list[Message]:
        if self.options.id is not None:
            return [self.message_for(item) for item in items]
        return self._filled.again_each([encode(self._payload_for(item)) for item in items])

    def _payload_for(self, item: Any) -> Any:
        read = self.signature.payload
        if isinstance(item, tuple):
            return read(item, {})
        if self.signature.arity == 1 or not isinstance(item, dict):
            return read((item,), {})
        return read((), item)

    def _message(self, payload: Any) -> Message:
        return self._filled.again(encode(payload), self.options.id)

    @property
    def _filled(self) -> Message:
        """A message with everything that all of this task have; its body and id are replaced."""
        pattern = self._pattern
        if pattern is None:
            fields = self.options.fields(self._tasks.priorities)
            pattern = Message(task=self.name, version=self.version, **fields)
            if self._tasks.joined:  # until then the labels of priorities may still change
                self._pattern = pattern
        return pattern
