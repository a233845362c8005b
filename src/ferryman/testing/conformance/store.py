"""The store under test: its fixtures, and the one way to skip what it does not promise."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import pytest

from ferryman.queue.open import open_backend
from ferryman.testing.clock import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.queue.contract import Backend


class Store:
    """A fresh store for each case. A backend's test class overrides `url`, nothing else is needed.

    `backend` runs on a clock that only the case moves; `real` is for waits, races and processes.
    """

    many: ClassVar[int] = 1_000
    """Jobs of the cases that try a large batch; fewer where each job is a request of its own."""
    jobs: ClassVar[int] = 300
    pairs: ClassVar[int] = 200
    """Jobs that two threads or processes want at once, in each of the races."""
    rounds: ClassVar[int] = 40
    """How often each of several threads does the same to one job or cell."""
    soon: ClassVar[float] = 0.05
    """Seconds within which another process's push wakes a waiter, unless a server takes longer."""
    kills: ClassVar[int] = 6
    """Processes that one case kills one after the other."""

    @pytest.fixture
    def url(self) -> str:
        raise NotImplementedError("override the fixture `url` with the address of an empty store")

    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    @pytest.fixture
    def backend(self, url: str, clock: FakeClock) -> Iterator[Backend]:
        store = open_backend(url, clock)
        yield store
        store.close()

    @pytest.fixture
    def other(self, clock: FakeClock) -> Iterator[Backend]:
        """Another store, from which jobs come to `backend`."""
        store = open_backend("memory://", clock)
        yield store
        store.close()

    @pytest.fixture
    def real(self, url: str) -> Iterator[Backend]:
        store = open_backend(url)
        yield store
        store.close()


def needs(backend: Backend, capability: str) -> None:
    """Skip a case for a backend that says it does not hold this promise."""
    held = getattr(backend.capabilities, capability)
    match capability:
        case "order":
            able = held.startswith("strict")
        case "max_delay":
            able = held is None
        case _:
            able = held
    if not able:
        pytest.skip(f"{backend.capabilities.backend} has no capability {capability!r}")
