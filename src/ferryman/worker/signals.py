"""SIGTERM and SIGINT: the first drains, the second stops now."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType


@contextmanager
def on_signals(drain: Callable[[], None], now: Callable[[], None]) -> Iterator[None]:
    """Call `drain` at the first signal and `now` at the next, while the block runs.

    Only the main thread can receive signals; elsewhere this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seen = 0

    def handle(_number: int, _frame: FrameType | None) -> None:
        nonlocal seen
        seen += 1
        (drain if seen == 1 else now)()

    before = {number: signal.signal(number, handle) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
