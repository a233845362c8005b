from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ferryman.flow.schedule import Schedule
from ferryman.flow.slots import Slots
from ferryman.flow.timetable import Timetable
from ferryman.message import Message

if TYPE_CHECKING:
    from ferryman import Ferry
    from tests.cli.conftest import Run


@pytest.fixture
def nightly(store: Ferry) -> None:
    message = Message.of("mail", "send", {"password": "hush"})
    Timetable(store.backend).declare(Schedule("nightly", Slots(cron="0 3 * * *"), message))


@pytest.mark.usefixtures("nightly")
def test_schedules_are_listed_with_their_next_slot(run: Run) -> None:
    header, line = run("schedules", "list").stdout.splitlines()
    assert header.split()[:2] == ["SCHEDULE", "WHEN"]
    assert line.split()[:8] == ["nightly", "0", "3", "*", "*", "*", "UTC", "latest"]
    (shown,) = json.loads(run("schedules", "list", "--json").stdout)["schedules"]
    assert (shown["schedule"], shown["cron"], shown["paused"]) == ("nightly", "0 3 * * *", False)
    assert shown["next"].endswith("T03:00:00.000Z")
    assert shown["payload"] == {"password": "***"}


@pytest.mark.usefixtures("nightly")
def test_a_schedule_is_paused_and_resumed(run: Run) -> None:
    assert run("schedules", "pause", "nightly").stdout == "nightly: paused\n"
    (shown,) = json.loads(run("schedules", "list", "--json").stdout)["schedules"]
    assert (shown["paused"], shown["next"]) == (True, None)
    told = json.loads(run("schedules", "resume", "nightly", "--json").stdout)
    assert told == {"schedule": "nightly", "paused": False}


@pytest.mark.usefixtures("nightly")
def test_a_schedule_is_run_now(run: Run, store: Ferry) -> None:
    job = store.backend.get(run("schedules", "run", "nightly").stdout.strip())
    assert job is not None
    assert (job.queue, job.task, job.payload) == ("mail", "send", {"password": "hush"})
    told = json.loads(run("schedules", "run", "nightly", "--json").stdout)
    assert (told["schedule"], told["created"]) == ("nightly", True)


@pytest.mark.usefixtures("nightly")
def test_an_unknown_schedule_is_not_found(run: Run) -> None:
    for verb in ("pause", "resume", "run"):
        assert "did you mean 'nightly'" in run("schedules", verb, "nightyl", code=3).stderr
