from __future__ import annotations

from threading import Thread

import pytest

from ferryman.clock import SystemClock
from ferryman.testing.clock import FakeClock
from ferryman.testing.waiting import wait_until


def test_system_time_is_in_seconds_since_the_epoch() -> None:
    assert 1_600_000_000 < SystemClock().now() < 1e11


def test_system_monotonic_time_never_steps_back() -> None:
    clock = SystemClock()
    readings = [clock.monotonic() for _ in range(100)]
    assert readings == sorted(readings)


def test_a_fake_clock_stands_still() -> None:
    clock = FakeClock(5.0)
    assert (clock.now(), clock.now()) == (5.0, 5.0)
    assert clock.monotonic() == clock.monotonic()


def test_advancing_moves_both_times() -> None:
    clock = FakeClock(5.0)
    monotonic = clock.monotonic()
    clock.advance(2.5)
    assert (clock.now(), clock.monotonic()) == (7.5, monotonic + 2.5)


@pytest.mark.parametrize("seconds", [3_600.0, -3_600.0])
def test_stepping_moves_the_wall_time_only(seconds: float) -> None:
    clock = FakeClock(5_000.0)
    monotonic = clock.monotonic()
    clock.step(seconds)
    assert (clock.now(), clock.monotonic()) == (5_000.0 + seconds, monotonic)


def test_time_cannot_be_advanced_backwards() -> None:
    with pytest.raises(ValueError, match="step"):
        FakeClock().advance(-1)


def test_threads_that_advance_a_clock_lose_no_second() -> None:
    clock = FakeClock(0.0)

    def advance() -> None:
        for _ in range(2_000):
            clock.advance(1.0)

    threads = [Thread(target=advance) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert clock.now() == 8_000.0


def test_waiting_returns_the_first_truthy_answer() -> None:
    answers = iter([None, 0, "", "here"])
    assert wait_until(lambda: next(answers)) == "here"


def test_waiting_in_vain_says_what_was_awaited() -> None:
    with pytest.raises(AssertionError, match=r"waited 0\.01 s for the ferry; .* 0"):
        wait_until(lambda: 0, timeout=0.01, what="the ferry")
