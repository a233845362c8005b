"""Several threads that act at one moment."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    T = TypeVar("T")


def at_once(acts: Sequence[Callable[[], T]]) -> Sequence[T]:
    """Run each in a thread of its own, all let go together; the answers in the same order."""
    barrier = Barrier(len(acts))

    def run(act: Callable[[], T]) -> T:
        barrier.wait()
        return act()

    with ThreadPoolExecutor(len(acts), "ferryman-probe") as pool:
        return list(pool.map(run, acts))
