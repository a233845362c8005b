from __future__ import annotations

import json
from typing import Any

import pytest

from ferryman import Ferry, InvalidMessage, Message, TaskError
from ferryman.flow.schedule import AT_ONCE, Missed, Schedule
from ferryman.flow.slots import Slots

NOW = 1_800_000_000.0  # a multiple of 300


def schedule(missed: Missed = "latest", **options: Any) -> Schedule:
    message = Message(queue="mail", task="send", **options)
    return Schedule("beat", Slots(every=300), message, missed)


@pytest.mark.parametrize("missed", ["skip", "latest", "all"])
def test_a_slot_on_time_is_due_under_every_policy(missed: Missed) -> None:
    assert schedule(missed).due(NOW - 300, NOW + 59) == [NOW]


def test_missed_slots_are_left_out_by_skip() -> None:
    assert schedule("skip").due(NOW - 3_000, NOW + 61) == []
    assert schedule("skip").due(NOW - 3_000, NOW + 1) == [NOW]


def test_of_missed_slots_latest_takes_the_last_unless_one_is_on_time() -> None:
    assert schedule("latest").due(NOW - 3_000, NOW + 61) == [NOW]
    assert schedule("latest").due(NOW - 3_000, NOW + 1) == [NOW]
    assert schedule("latest").due(NOW, NOW + 61) == []


def test_all_takes_every_missed_slot_in_portions() -> None:
    every = schedule("all")
    assert every.due(NOW - 900, NOW) == [NOW - 600, NOW - 300, NOW]
    portion = every.due(NOW - 300 * 1_000, NOW)
    assert len(portion) == AT_ONCE
    assert every.due(portion[-1], NOW)[0] == portion[-1] + 300


def test_a_job_is_named_after_its_slot_and_carries_it() -> None:
    job = schedule(meta={"team": "a"}).job(NOW)
    assert job.id == "schedule:beat:2027-01-15T08:00:00Z"
    assert job.ready_at == NOW
    assert job.meta == {"team": "a", "schedule": "beat", "slot": "2027-01-15T08:00:00Z"}


def test_a_schedule_survives_as_json() -> None:
    whole = schedule(
        "all", priority=3, key="k", unique=60.0, expires=5.0, meta={"a": "b"}, timeout=9.0
    )
    read = Schedule.read("beat", json.loads(json.dumps(whole.described())))
    assert read.described() == whole.described()
    assert read.job(NOW) == whole.job(NOW)


@pytest.mark.parametrize("option", [{"delay": 5.0}, {"ready_at": NOW}, {"replace": True}])
def test_what_a_schedule_decides_itself_is_refused(option: dict[str, Any]) -> None:
    with pytest.raises(InvalidMessage, match="not for schedules"):
        schedule(**option)


def test_a_ferry_refuses_bad_schedules_when_they_are_declared() -> None:
    ferry = Ferry("memory://")

    @ferry.task()
    def greet(name: str) -> None: ...

    with pytest.raises(InvalidMessage, match="cron"):
        ferry.schedule("a", greet, "Ada", cron="nonsense")
    with pytest.raises(InvalidMessage, match="missed"):
        ferry.schedule("a", greet, "Ada", every=5, missed="never")  # type: ignore[arg-type]
    with pytest.raises(InvalidMessage, match="payload"):
        ferry.schedule("a", greet, 5, every=5)
    with pytest.raises(InvalidMessage, match="not for schedules"):
        ferry.schedule("a", greet, "Ada", every=5, id="mine")
    with pytest.raises(InvalidMessage, match="schedule"):
        ferry.schedule("", greet, "Ada", every=5)
    ferry.schedule("a", greet, "Ada", every=5)
    with pytest.raises(TaskError, match="two schedules"):
        ferry.schedule("a", "greet", "Bob", every=5)
