"""A queue under test: ours, a raw loop on the same store, or another library.

This module, like everything a worker process needs, uses only the standard library: other
libraries are measured in environments of their own, where Ferryman is not installed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from threading import Event

    Payload = dict[str, Any]
    Handler = Callable[[Payload], None]

QUEUE: Final = "bench"
BATCH: Final = 100
"""How many jobs a raw loop claims and finishes at once."""


class Contender(ABC):
    """One queue, opened on a folder of its own; the same folder in another process is the same one.

    `handle` is the job's work; `work` calls it for each job until `stop` is set.
    """

    processes: ClassVar[bool] = True
    """Whether its workers are processes; otherwise threads of this one."""

    def __init__(self, folder: Path, handle: Handler) -> None:
        self.folder = folder
        self.handle = handle

    @abstractmethod
    def push(self, payload: Payload) -> None: ...

    def push_many(self, payloads: Sequence[Payload]) -> None:
        """In one call where the queue has one for it."""
        for payload in payloads:
            self.push(payload)

    @abstractmethod
    def unfinished(self) -> int:
        """How many jobs wait or are claimed: 0 means that every end is recorded."""

    @abstractmethod
    def work(self, stop: Event) -> None: ...

    @abstractmethod
    def close(self) -> None:
        """Free what was opened; the folder stays."""

    @classmethod
    def spec(cls) -> str:
        """How another process finds this class."""
        return f"{cls.__module__}:{cls.__qualname__}"


class Cycling(Contender):
    """A contender whose verbs can be driven without a worker."""

    @abstractmethod
    def prepare(self, payloads: Sequence[Payload]) -> Sequence[object]:
        """What `cycle` pushes, made before the clock starts."""

    @abstractmethod
    def cycle(self, prepared: Sequence[object]) -> int:
        """Push these, claim as many, finish them; how many."""


def find(spec: str) -> type[Contender]:
    """The class that `Contender.spec` named."""
    module, _, name = spec.partition(":")
    return cast("type[Contender]", getattr(import_module(module), name))


def payload(number: int, at: float = 0.0) -> Payload:
    """About 130 bytes as JSON; `at` is the moment of its push, where somebody asks."""
    return {
        "i": number,
        "t": at,
        "user_id": 123_456,
        "email": "someone@example.com",
        "template": "welcome-message",
        "lang": "en",
        "retry": False,
    }
