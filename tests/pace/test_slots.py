from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest

from ferryman.errors import InvalidMessage
from ferryman.flow.slots import Slots

BERLIN = "Europe/Berlin"
SPRING = datetime(2026, 3, 28, tzinfo=ZoneInfo(BERLIN)).timestamp()
AUTUMN = datetime(2026, 10, 24, tzinfo=ZoneInfo(BERLIN)).timestamp()


def walls(slots: Slots, after: float, count: int) -> list[str]:
    zone = ZoneInfo(slots.tz)
    found = islice(slots.after(after), count)
    return [datetime.fromtimestamp(slot, zone).strftime("%d %H:%M %Z") for slot in found]


def test_a_wall_time_that_is_left_out_is_due_when_the_clock_goes_on() -> None:
    daily = Slots(cron="30 2 * * *", tz=BERLIN)
    assert walls(daily, SPRING, 3) == ["28 02:30 CET", "29 03:00 CEST", "30 02:30 CEST"]


def test_a_wall_time_that_comes_twice_is_due_the_first_time_only() -> None:
    daily = Slots(cron="30 2 * * *", tz=BERLIN)
    assert walls(daily, AUTUMN, 3) == ["24 02:30 CEST", "25 02:30 CEST", "26 02:30 CET"]


def test_with_a_star_slots_follow_the_time_that_passes() -> None:
    half_hourly = Slots(cron="*/30 * * * *", tz=BERLIN)
    for start in (SPRING, AUTUMN):
        found = list(half_hourly.between(start, start + 3 * 86_400))
        assert found == [start + 1_800 * n for n in range(1, 145)]


@pytest.mark.parametrize("tz", [BERLIN, "America/New_York", "America/Havana", "Asia/Beirut"])
@pytest.mark.parametrize("cron", ["30 2 * * *", "*/20 0-3 * * *", "7 */2 * * *", "10,50 0 * * *"])
def test_wherever_one_begins_the_slots_are_the_same(tz: str, cron: str) -> None:
    slots = Slots(cron=cron, tz=tz)
    for day in ("2026-03-07", "2026-03-28", "2026-10-24", "2026-10-31"):
        start = datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
        known = list(slots.between(start, start + 3 * 86_400))
        assert known == sorted({*known})
        for moment in range(int(start), int(start) + 2 * 86_400, 1_213):
            assert next(slots.after(moment)) == min(slot for slot in known if slot > moment)


def test_an_interval_is_due_at_its_multiples() -> None:
    slots = Slots(every=300)
    assert list(islice(slots.after(1_000.5), 3)) == [1_200, 1_500, 1_800]
    assert next(slots.after(1_200)) == 1_500
    assert Slots.of(None, timedelta(minutes=5), "UTC") == Slots.of(None, 300.0, "UTC") == slots


@pytest.mark.parametrize(
    ("cron", "days"), [("* * * * *", 400), ("0 3 1 * *", 400), ("0 0 29 2 *", 3_000)]
)
def test_the_latest_slot_is_found_however_long_ago_the_last_was(cron: str, days: int) -> None:
    slots = Slots(cron=cron)
    now = 1_800_000_015.0
    found = slots.latest(now - days * 86_400, now)
    assert found is not None
    assert next(slots.after(found)) > now
    assert slots.latest(found, now) is None
    assert slots.latest(now, now) is None


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "cron"),
        ({"cron": "* * * * *", "every": 5}, "cron"),
        ({"cron": "61 * * * *"}, "cron"),
        ({"cron": "soon"}, "cron"),
        ({"cron": "0 0 30 2 *"}, "cron"),
        ({"cron": "0 0 * 2 MON#5,TUE#6"}, "cron"),
        ({"cron": "* * * * *", "tz": "Europe/Atlantis"}, "tz"),
        ({"cron": "* * * * *", "tz": "../etc/passwd"}, "tz"),
        ({"cron": "* * * * *", "tz": None}, "tz"),
        ({"every": 0}, "every"),
        ({"every": True}, "every"),
        ({"every": 10**12}, "every"),
    ],
)
def test_what_is_never_due_or_unreadable_is_refused(given: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidMessage) as refused:
        Slots(**given)  # type: ignore[arg-type]
    assert refused.value.field == field


def test_a_part_of_a_second_is_refused() -> None:
    with pytest.raises(InvalidMessage, match="whole seconds"):
        Slots.of(None, 1.5, "UTC")
