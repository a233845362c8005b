"""The type of `@ferry.task(...)`: `push` is typed like the function, without its trailing job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from ferryman.job import Job
    from ferryman.tasks.task import Task

P = ParamSpec("P")
R = TypeVar("R")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")


class BatchDecorator(Protocol):
    """Turns a handler of lists into a `Task` that is pushed one by one."""

    @overload
    def __call__(
        self, handler: Callable[[list[A]], Coroutine[Any, Any, None]], /
    ) -> Task[[A], None]: ...
    @overload
    def __call__(
        self, handler: Callable[[list[A]], Coroutine[Any, Any, list[R]]], /
    ) -> Task[[A], R]: ...
    @overload
    def __call__(
        self, handler: Callable[[list[A], list[Job]], Coroutine[Any, Any, None]], /
    ) -> Task[[A], None]: ...
    @overload
    def __call__(
        self, handler: Callable[[list[A], list[Job]], Coroutine[Any, Any, list[R]]], /
    ) -> Task[[A], R]: ...
    @overload
    def __call__(self, handler: Callable[[list[A]], None], /) -> Task[[A], None]: ...
    @overload
    def __call__(self, handler: Callable[[list[A]], list[R]], /) -> Task[[A], R]: ...
    @overload
    def __call__(self, handler: Callable[[list[A], list[Job]], None], /) -> Task[[A], None]: ...
    @overload
    def __call__(self, handler: Callable[[list[A], list[Job]], list[R]], /) -> Task[[A], R]: ...
    @overload
    def __call__(self, handler: Callable[..., Any], /) -> Task[..., Any]: ...


class Decorator(Protocol):
    """Turns a handler into a `Task`. Only the last parameter can be dropped by its type, so the
    shapes with up to three parameters before the job are spelled out."""

    @overload
    def __call__(self, handler: Callable[[Job], Coroutine[Any, Any, R]], /) -> Task[[], R]: ...
    @overload
    def __call__(self, handler: Callable[[A, Job], Coroutine[Any, Any, R]], /) -> Task[[A], R]: ...
    @overload
    def __call__(
        self, handler: Callable[[A, B, Job], Coroutine[Any, Any, R]], /
    ) -> Task[[A, B], R]: ...
    @overload
    def __call__(
        self, handler: Callable[[A, B, C, Job], Coroutine[Any, Any, R]], /
    ) -> Task[[A, B, C], R]: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, handler: Callable[P, Coroutine[Any, Any, R]], /
    ) -> Task[P, R]: ...
    @overload
    def __call__(self, handler: Callable[[Job], R], /) -> Task[[], R]: ...
    @overload
    def __call__(self, handler: Callable[[A, Job], R], /) -> Task[[A], R]: ...
    @overload
    def __call__(self, handler: Callable[[A, B, Job], R], /) -> Task[[A, B], R]: ...
    @overload
    def __call__(self, handler: Callable[[A, B, C, Job], R], /) -> Task[[A, B, C], R]: ...
    @overload
    def __call__(self, handler: Callable[P, R], /) -> Task[P, R]: ...
