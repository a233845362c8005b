from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.errors import BackendRejected, Unsupported
from ferryman.events import Event, Events
from ferryman.filter import Filter
from ferryman.flow.schedule import Missed, Schedule
from ferryman.flow.slots import Slots
from ferryman.flow.timetable import ScheduleNotFound, Timetable
from ferryman.message import Message
from ferryman.queue.open import open_backend

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend
    from ferryman.testing import FakeClock

NOW = 1_800_000_000.0


def beat(
    name: str = "beat", *, every: int = 300, missed: Missed = "all", task: str = "send"
) -> Schedule:
    return Schedule(name, Slots(every=every), Message(queue="mail", task=task), missed)


def slots(backend: Backend) -> list[float]:
    """The slots that have jobs, oldest first, counted from the beginning."""
    jobs = backend.list(Filter.parse("queue:mail"), limit=1_000).jobs
    return sorted(job.ready_at - NOW for job in jobs)


@pytest.fixture
def timetable(backend: Backend) -> Timetable:
    timetable = Timetable(backend)
    timetable.declare(beat())
    return timetable


def test_a_schedule_begins_with_the_slot_after_its_declaration(
    timetable: Timetable, backend: Backend, clock: FakeClock
) -> None:
    assert timetable.push_due({"beat"}) == NOW + 300
    assert slots(backend) == []
    clock.advance(300)
    assert timetable.push_due({"beat"}) == NOW + 600
    timetable.push_due({"beat"})
    assert slots(backend) == [300]


def test_what_a_worker_does_not_declare_it_does_not_push(
    timetable: Timetable, backend: Backend, clock: FakeClock
) -> None:
    clock.advance(300)
    assert timetable.push_due({"other"}) is None
    assert slots(backend) == []


def test_a_clock_stepped_back_pushes_no_slot_again_even_when_its_job_is_forgotten(
    timetable: Timetable, backend: Backend, clock: FakeClock
) -> None:
    clock.advance(900)
    timetable.push_due({"beat"})
    assert slots(backend) == [300, 600, 900]
    backend.purge("mail")
    clock.step(-600)
    assert timetable.push_due({"beat"}) == NOW + 1_200
    clock.step(900)
    timetable.push_due({"beat"})
    assert slots(backend) == [1_200]


def test_a_crash_between_push_and_record_pushes_the_slot_once(
    timetable: Timetable, backend: Backend, clock: FakeClock
) -> None:
    entry = timetable.entry("beat")
    clock.advance(300)
    backend.push([entry.schedule.job(NOW + 300)])
    timetable.push_due({"beat"})
    assert slots(backend) == [300]
    assert timetable.entry("beat").last == NOW + 300


def test_a_long_absence_is_made_up_for_in_portions(
    timetable: Timetable, backend: Backend, clock: FakeClock
) -> None:
    clock.advance(300 * 250)
    while (upcoming := timetable.push_due({"beat"})) is not None and upcoming <= clock.now():
        pass
    assert slots(backend) == [300.0 * n for n in range(1, 251)]


def test_a_paused_schedule_pushes_nothing_and_makes_up_for_nothing(
    timetable: Timetable, backend: Backend, clock: FakeClock
) -> None:
    assert timetable.pause("beat").paused
    clock.advance(900)
    assert timetable.push_due({"beat"}) is None
    timetable.resume("beat")
    timetable.push_due({"beat"})
    assert slots(backend) == []
    clock.advance(300)
    timetable.push_due({"beat"})
    assert slots(backend) == [1_200]


def test_resuming_what_is_not_paused_changes_nothing(
    timetable: Timetable, backend: Backend, clock: FakeClock
) -> None:
    clock.advance(300)
    timetable.resume("beat")
    timetable.push_due({"beat"})
    assert slots(backend) == [300]


def test_a_run_now_is_a_job_besides_the_slots(
    timetable: Timetable, backend: Backend, clock: FakeClock
) -> None:
    first, second = timetable.run("beat"), timetable.run("beat")
    assert (first.created, second.created, first.id != second.id) == (True, True, True)
    clock.advance(300)
    timetable.push_due({"beat"})
    assert len(slots(backend)) == 3


def test_a_changed_time_begins_anew_and_a_changed_task_goes_on(
    timetable: Timetable, backend: Backend, clock: FakeClock
) -> None:
    clock.advance(900)
    timetable.declare(beat(task="post"))
    timetable.push_due({"beat"})
    assert slots(backend) == [300, 600, 900]
    assert {job.task for job in backend.list(Filter.parse("queue:mail")).jobs} == {"post"}
    clock.advance(1_000)
    timetable.declare(beat(every=50))
    timetable.push_due({"beat"})
    assert slots(backend) == [300, 600, 900]
    clock.advance(50)
    timetable.push_due({"beat"})
    assert slots(backend) == [300, 600, 900, 1_950]


def test_a_declaration_keeps_a_pause(timetable: Timetable) -> None:
    timetable.pause("beat")
    timetable.declare(beat(every=60))
    assert timetable.entry("beat").paused


def test_an_unknown_schedule_is_not_found_and_the_closest_is_named(timetable: Timetable) -> None:
    for act in (timetable.pause, timetable.resume, timetable.run, timetable.entry):
        with pytest.raises(ScheduleNotFound, match="did you mean 'beat'"):
            act("baet")


def test_names_that_begin_alike_are_told_apart(timetable: Timetable) -> None:
    timetable.declare(beat("beat/2", every=60))
    timetable.pause("beat/2")
    assert not timetable.entry("beat").paused
    assert [entry.schedule.name for entry in timetable.entries()] == ["beat", "beat/2"]


def test_an_entry_of_a_newer_version_is_reported_once_and_hides_no_other(
    timetable: Timetable, backend: Backend, clock: FakeClock
) -> None:
    backend.write_cell("schedule/new", '{"cron": null, "phase": "full"}', expect=0)
    events = Events()
    heard: list[Event] = []
    events.subscribe("schedule.unreadable", heard.append)
    clock.advance(300)
    other = Timetable(backend, events)
    for _ in range(2):
        assert other.push_due({"beat", "new"}) == NOW + 600
    assert slots(backend) == [300]
    assert [event["schedule"] for event in heard] == ["new"]
    with pytest.raises(BackendRejected, match="upgrade"):
        timetable.entry("new")


def test_a_store_without_cells_is_refused_with_the_way_out(aws_settings: None) -> None:
    store = open_backend("sqs://eu-west-1/p?endpoint=http://127.0.0.1:1")
    with pytest.raises(Unsupported, match="ledger"):
        Timetable(store)
    store.close()


def test_a_schedule_of_a_newer_version_is_left_as_it_is_by_who_declares_it_too(
    backend: Backend,
) -> None:
    newer = '{"cron": null, "phase": "full"}'
    backend.write_cell("schedule/beat", newer, expect=0)
    events = Events()
    heard: list[Event] = []
    events.subscribe("schedule.unreadable", heard.append)
    timetable = Timetable(backend, events)
    timetable.declare(beat())
    assert timetable.push_due({"beat"}) is None
    assert [event["schedule"] for event in heard] == ["beat"]
    assert [cell.value for cell in backend.read_cells("schedule/")] == [newer]
