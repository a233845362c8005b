"""Ends that come in while others are being sent."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any, cast

from ferryman.events import Events
from ferryman.queue.settlement import Receipt
from ferryman.worker.settler import Settler

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ferryman.queue.contract import Backend
    from ferryman.worker.leases import LeaseKeeper


EACH = 100_000


class Store:
    """Takes whatever it is sent."""

    def __init__(self) -> None:
        self.taken: list[Any] = []

    def settle(self, settlements: Sequence[Any]) -> Sequence[Receipt]:
        self.taken += settlements
        return [Receipt("job", applied=True)] * len(settlements)


class Keeper:
    def drop(self, _: Iterable[Any]) -> None:
        """Nobody asks what is held here."""


def test_ends_may_be_added_at_any_moment_of_a_batch() -> None:
    store, deaths = Store(), list[BaseException]()
    settler = Settler(
        cast("Backend", store),
        cast("LeaseKeeper", Keeper()),
        lambda: False,
        Events(),
        lambda _, error: deaths.append(error),
    )
    usual = sys.getswitchinterval()
    # Threads take turns as often as they can, so that every gap between two steps is tried.
    sys.setswitchinterval(1e-6)
    try:
        settler.start()
        adding = [threading.Thread(target=add, args=(settler, n)) for n in range(3)]
        for thread in adding:
            thread.start()
        for thread in adding:
            thread.join()
        assert settler.flush(20.0)
    finally:
        sys.setswitchinterval(usual)
        settler.stop(5.0)
    assert deaths == []
    assert sorted(store.taken) == sorted((n, number) for n in range(3) for number in range(EACH))


def add(settler: Settler, thread: int) -> None:
    end: Any
    for number in range(EACH):
        end = (thread, number)
        settler.add(end, end)
