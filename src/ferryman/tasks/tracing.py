"""What pushes and workers ask of a tracer, so that neither needs to know one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from ferryman.job import Job
    from ferryman.message import Message
    from ferryman.queue.settlement import Settlement


class Tracing(Protocol):
    """Puts a span around what a Ferry does."""

    def sending(self, messages: Sequence[Message]) -> AbstractContextManager[Sequence[Message]]:
        """Around a push; the messages to push instead, which carry where they came from."""
        ...

    def processing(
        self, jobs: Sequence[Job]
    ) -> AbstractContextManager[Callable[[Sequence[Settlement]], None]]:
        """Around one call of a handler; takes how its jobs ended."""
        ...
