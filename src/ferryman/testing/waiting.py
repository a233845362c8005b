"""Waiting for something to become true, without guessing how long it takes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

FIRST_PAUSE = 0.001
LONGEST_PAUSE = 0.05


def wait_until(predicate: Callable[[], T], timeout: float = 10.0, what: str = "the condition") -> T:
    """Ask until the answer is truthy and return it; `AssertionError` after `timeout` seconds.

    `what` names the awaited thing in that error. Pauses between questions grow from 1 to 50 ms.
    """
    deadline = time.monotonic() + timeout
    pause = FIRST_PAUSE
    while not (answer := predicate()):
        left = deadline - time.monotonic()
        if left <= 0:
            raise AssertionError(f"waited {timeout:g} s for {what}; the last answer was {answer!r}")
        time.sleep(min(pause, left))
        pause = min(pause * 1.5, LONGEST_PAUSE)
    return answer
