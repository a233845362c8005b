"""The arithmetic of rates, without a store."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman import TaskError
from ferryman.flow.tally import GRACE, Tally
from ferryman.tasks.limits import Quota

NOW = 1_800_000_000.0
LOS_ANGELES = ZoneInfo("America/Los_Angeles")


def tally(*quotas: str, zone: str = "UTC") -> Tally:
    return Tally(tuple(Quota.parse(text) for text in quotas), ZoneInfo(zone))


@pytest.mark.parametrize(
    ("text", "count", "seconds"),
    [("15/m", 15, 60.0), ("50/s", 50, 1.0), ("100/10s", 100, 10.0), ("500/d", 500, 86_400.0)],
)
def test_a_quota_is_read_and_written_as_text(text: str, count: int, seconds: float) -> None:
    quota = Quota.parse(text)
    assert (quota.count, quota.seconds, str(quota)) == (count, seconds, text)


@pytest.mark.parametrize("text", ["", "15", "0/s", "15/0m", "1.5/s", "15/w", "5/2d", "-1/s"])
def test_what_is_no_quota_is_refused(text: str) -> None:
    with pytest.raises(TaskError, match="rate"):
        Quota.parse(text)


def test_a_period_slides() -> None:
    rate = tally("2/10s")
    document = rate.take(rate.take({}, 1, NOW), 1, NOW + 6)
    assert rate.free(document, NOW + 9) == 0
    assert rate.free(document, NOW + 10.5) == 1
    assert NOW + 10 < rate.free_at(document, NOW + 9) <= NOW + 10.1 + GRACE
    assert rate.free_at(document, NOW + 9, 2) > NOW + 16


def test_every_quota_must_have_something_left() -> None:
    rate = tally("2/s", "3/h")
    document = rate.take({}, 2, NOW)
    assert rate.free(document, NOW + 2) == 1
    document = rate.take(document, 1, NOW + 2)
    assert rate.free(document, NOW + 10) == 0
    assert rate.free_at(document, NOW + 10) > NOW + 3_600


def test_a_day_is_one_of_the_calendar_in_its_zone() -> None:
    rate = tally("5/d", zone="America/Los_Angeles")
    evening = datetime(2027, 3, 13, 23, 30, tzinfo=LOS_ANGELES).timestamp()
    document = rate.take({}, 5, evening)
    assert rate.free(document, evening) == 0
    assert rate.free_at(document, evening) == evening + 1_800
    assert rate.free(document, evening + 1_800) == 5
    # The next day has 23 hours: summer time begins.
    document = rate.take(document, 5, evening + 1_800)
    assert rate.free_at(document, evening + 1_800) == evening + 1_800 + 23 * 3_600


def test_a_clock_that_is_set_back_finds_the_day_spent() -> None:
    rate = tally("5/d")
    document = rate.take({}, 5, NOW)
    assert rate.free(document, NOW - 86_400) == 0


def test_what_was_not_used_can_be_returned() -> None:
    rate = tally("2/m", "5/d")
    document = rate.take({}, 2, NOW)
    document = rate.refund(document, 1, NOW, NOW + 1)
    assert (rate.free(document, NOW + 1), rate.left(document, rate.quotas[1], NOW + 1)) == (1, 4)


def test_a_rate_that_was_told_to_wait_gives_nothing_and_forgets_nothing() -> None:
    rate = tally("2/s")
    document = {**rate.take({}, 1, NOW), "wait_until": NOW + 30}
    assert rate.free(document, NOW + 29) == 0
    assert rate.free_at(document, NOW + 1) == NOW + 30
    assert rate.free(document, NOW + 30) == 2
    kept = rate.refund(document, 1, NOW, NOW + 0.5)
    assert kept["wait_until"] == NOW + 30


@given(
    st.lists(st.tuples(st.floats(0, 0.7), st.integers(1, 4), st.floats(0, GRACE)), max_size=60),
    st.integers(1, 9),
)
def test_no_window_ever_holds_more_calls_than_the_quota(
    asked: list[tuple[float, int, float]], count: int
) -> None:
    """Each grant is used at any moment of its grace; a call after that one is made is counted."""
    rate = tally(f"{count}/s")
    document: dict[str, Any] = {}
    calls: list[float] = []
    now = NOW
    for pause, want, late in asked:
        now += pause
        given_now = min(want, rate.free(document, now))
        if given_now:
            document = json.loads(json.dumps(rate.take(document, given_now, now)))
            calls += [now + late] * given_now
    calls.sort()
    for first, last in zip(calls, calls[count:], strict=False):
        assert last - first >= 1.0 - 1e-6


def test_the_log_of_a_large_quota_stays_small() -> None:
    rate = tally("100000/h")
    document: dict[str, Any] = {}
    for step in range(3_000):
        document = rate.take(document, 10, NOW + step)
    assert len(json.dumps(document)) < 4_000
