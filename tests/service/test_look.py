"""One look at a store serves those who ask at nearly the same time, and is never too old."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.backends.memory import MemoryBackend
from ferryman.queue.answers import QueueCounts, Snapshot
from ferryman.service import look as looking
from ferryman.service.insights import Insights
from ferryman.service.look import Look
from ferryman.testing.clock import FakeClock
from ferryman.testing.conformance.given import pushed

if TYPE_CHECKING:
    from collections.abc import Iterator


class Counted(MemoryBackend):
    """Tells how often it was counted, and may say that more jobs wait than do."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock)
        self.looks = 0
        self.more = 0

    def snapshot(self) -> Snapshot:
        self.looks += 1
        seen = super().snapshot()
        crowd = QueueCounts("crowd", {"pending": self.more})  # type: ignore[dict-item]
        return Snapshot(seen.at, {**seen.queues, "crowd": crowd})


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def backend(clock: FakeClock) -> Iterator[Counted]:
    backend = Counted(clock)
    yield backend
    backend.close()


def test_a_small_store_is_counted_for_each_who_asks(backend: Counted) -> None:
    insights = Insights(backend)
    assert len(insights.queues()) == 1
    pushed(backend, queue="mail")
    assert len(insights.queues()) == 2
    assert backend.looks == 2


def test_a_long_line_is_counted_once_in_a_while(backend: Counted, clock: FakeClock) -> None:
    backend.more = 1_000_000
    look = Look(backend)
    for _ in range(10):
        look.snapshot()
    assert backend.looks == 1
    clock.advance(1_000_000 * looking.COST + 0.1)
    look.snapshot()
    assert backend.looks == 2


def test_while_somebody_watches_all_see_what_the_watcher_saw(
    backend: Counted, clock: FakeClock
) -> None:
    look = Look(backend)
    look.watched = True
    seen = look.renew()
    look.renew_workers()
    assert look.snapshot() is seen
    assert look.workers() == []
    clock.advance(looking.WATCHED + 0.1)
    assert look.snapshot() is not seen


def test_nobody_sees_what_was_seen_before_a_change(backend: Counted, clock: FakeClock) -> None:
    look = Look(backend)
    look.watched = True
    look.snapshot()
    pushed(backend, queue="mail")
    clock.advance(0.1)
    look.forget()
    clock.advance(0.1)
    assert "mail" in look.snapshot().queues
