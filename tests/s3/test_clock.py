"""The server's time, from the headers of its answers."""

from __future__ import annotations

import random
import time
from email.utils import formatdate
from typing import TYPE_CHECKING

import pytest

from ferryman.backends.s3.clock import ServerClock
from ferryman.testing.clock import FakeClock
from tests.servers import faults
from tests.servers.line import FOREVER

if TYPE_CHECKING:
    from ferryman.backends.s3.bucket import Bucket
    from tests.servers.line import Line


def hear(clock: ServerClock, local: FakeClock, ahead: float, way: float = 0.0) -> None:
    """One answer from a server that is `ahead` seconds ahead, after `way` seconds each way."""
    sent = local.monotonic()
    local.advance(way)
    date = formatdate(int(local.now() + ahead), usegmt=True)
    local.advance(way)
    clock.hear(date, sent, local.monotonic())


def test_before_the_first_answer_it_is_the_local_time() -> None:
    local = FakeClock()
    clock = ServerClock(local)
    assert clock.now() == local.now()
    assert not clock.heard


def test_one_answer_is_right_to_the_second_and_never_ahead() -> None:
    local = FakeClock(1_800_000_000.7)
    clock = ServerClock(local)
    hear(clock, local, 3_600.5, way=0.1)
    assert -1.2 <= clock.now() - (local.now() + 3_600.5) <= 0
    assert clock.heard


def test_many_answers_together_are_right_to_the_way_they_take() -> None:
    local = FakeClock()
    clock = ServerClock(local)
    for _ in range(200):
        local.advance(random.uniform(0, 2))
        hear(clock, local, -1_234.5, way=0.005)
    assert -0.1 <= clock.now() - (local.now() - 1_234.5) <= 0


def test_a_step_of_the_local_clock_changes_nothing() -> None:
    local = FakeClock()
    clock = ServerClock(local)
    hear(clock, local, 0)
    before = clock.now()
    local.step(-5_000)
    assert clock.now() == before
    assert clock.skew == pytest.approx(5_000, abs=1.1)


def test_a_step_of_the_servers_clock_is_followed() -> None:
    local = FakeClock()
    clock = ServerClock(local)
    hear(clock, local, 0)
    hear(clock, local, -600)
    assert clock.now() == pytest.approx(local.now() - 600, abs=1.1)


@pytest.mark.parametrize("date", [None, "", "yesterday"])
def test_an_answer_without_a_date_says_nothing(date: str | None) -> None:
    clock = ServerClock(FakeClock())
    clock.hear(date, 0, 1)
    assert not clock.heard


@pytest.mark.parametrize("ahead", [3_600.0, -3_600.0])
def test_a_bucket_tells_its_servers_time(
    ahead: float, line: Line, steady: Bucket, key: str
) -> None:
    line.fault(faults.dated(ahead), times=FOREVER)
    assert steady.get(key) is None
    assert steady.clock().now() == pytest.approx(time.time() + ahead, abs=2)
    assert steady.clock().skew == pytest.approx(ahead, abs=2)
