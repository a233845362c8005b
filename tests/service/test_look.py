"""One look at a store serves those who ask at nearly the same time, and is never too old."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from ferryman.backends.memory import MemoryBackend
from ferryman.errors import BackendUnavailable
from ferryman.queue.answers import QueueCounts, Snapshot
from ferryman.service import look as looking
from ferryman.service.insights import Insights
from ferryman.service.look import Look
from ferryman.testing import wait_until
from ferryman.testing.clock import FakeClock
from ferryman.testing.conformance.given import pushed

if TYPE_CHECKING:
    from collections.abc import Iterator


class Counted(MemoryBackend):
    """Tells how often it was counted, and may say that more jobs wait than do.

    To count many takes `takes` seconds, and goes on only while `may_count` is set.
    """

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock)
        self._fake = clock
        self.looks = 0
        self.more = 0
        self.takes = 0.1
        self.outage = False
        self.may_count = threading.Event()
        self.may_count.set()

    def snapshot(self) -> Snapshot:
        self.looks += 1
        self.may_count.wait()
        if self.outage:
            raise BackendUnavailable("not now")
        if self.more:
            self._fake.advance(self.takes)
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
    seen = look.snapshot()
    clock.advance(backend.takes / looking.SHARE - backend.takes - 0.1)
    assert look.snapshot() is seen
    assert backend.looks == 1


def test_whoever_asks_later_gets_the_last_count_while_the_next_is_made(
    backend: Counted, clock: FakeClock
) -> None:
    backend.more = 1_000_000
    look = Look(backend)
    seen = look.snapshot()
    clock.advance(backend.takes / looking.SHARE)
    backend.may_count.clear()
    assert [look.snapshot() is seen for _ in range(10)] == [True] * 10
    backend.may_count.set()
    wait_until(lambda: look.snapshot() is not seen)
    assert backend.looks == 2


def test_nobody_gets_a_count_that_is_too_old(backend: Counted, clock: FakeClock) -> None:
    backend.more = 1_000_000
    look = Look(backend)
    seen = look.snapshot()
    clock.advance(looking.LONGEST)
    assert look.snapshot() is not seen
    assert backend.looks == 2


def test_what_fails_beside_is_met_by_the_next_who_has_to_wait(
    backend: Counted, clock: FakeClock
) -> None:
    backend.more = 1_000_000
    look = Look(backend)
    seen = look.snapshot()
    backend.outage = True
    clock.advance(backend.takes / looking.SHARE)
    assert look.snapshot() is seen
    wait_until(lambda: backend.looks == 2)
    clock.advance(looking.LONGEST)
    with pytest.raises(BackendUnavailable):
        look.snapshot()


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


def test_a_count_that_took_long_does_not_replace_what_was_seen_since(
    backend: Counted, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend.more = 1_000_000
    look = Look(backend)
    count, overtaking = backend.snapshot, iter([True])

    def overtaken() -> Snapshot:
        seen = count()
        if next(overtaking, False):
            pushed(backend, queue="mail")
            look.renew()
        return seen

    monkeypatch.setattr(backend, "snapshot", overtaken)
    assert "mail" not in look.renew().queues
    assert "mail" in look.snapshot().queues
