"""Two schedulers at once, each with a clock that is wrong in its own way."""

from __future__ import annotations

import json
import random
import sys
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from subprocess import PIPE, Popen
from zoneinfo import ZoneInfo

import pytest

from ferryman.filter import Filter
from ferryman.flow.schedule import Schedule
from ferryman.flow.slots import Slots
from ferryman.flow.timetable import Timetable
from ferryman.message import Message
from ferryman.queue.open import open_backend
from ferryman.testing import FakeClock

WALKER = Path(__file__).parent / "walker.py"
BERLIN = ZoneInfo("Europe/Berlin")
HOURS = 3_600


@pytest.mark.parametrize(
    "day", [datetime(2026, 3, 29, tzinfo=BERLIN), datetime(2026, 10, 25, tzinfo=BERLIN)], ids=str
)
def test_clocks_step_back_and_forth_over_a_dst_change_and_each_slot_is_pushed_once(
    shared_url: str, day: datetime
) -> None:
    start, end = day.timestamp(), day.timestamp() + 6 * HOURS
    plans = {
        "wall": Slots(cron="15,45 1-4 * * *", tz="Europe/Berlin"),
        "real": Slots(cron="*/20 * * * *", tz="Europe/Berlin"),
    }
    store = open_backend(shared_url, FakeClock(start))
    for name, slots in plans.items():
        message = Message(queue=name, task="send")
        Timetable(store).declare(Schedule(name, slots, message, "all"))
    with ExitStack() as stack:
        walkers = [stack.enter_context(walker(shared_url, *plans)) for _ in range(2)]
        for one in walkers:
            assert walked(one, []) == []
        for one in walkers:
            send(one, stumbling(start, end))
        created = sorted(slot for one in walkers for slot in answer(one))
    expected = {name: list(slots.between(start, end)) for name, slots in plans.items()}
    assert created == sorted(slot for found in expected.values() for slot in found)
    for name, found in expected.items():
        jobs = store.list(Filter.parse(f"queue:{name}"), limit=1_000).jobs
        assert sorted(job.ready_at for job in jobs) == found
    store.close()


def stumbling(start: float, end: float) -> list[float]:
    """A way from `start` to `end` with steps back and leaps ahead."""
    moments = [start + n * 300 for n in range(int((end - start) // 300) + 1)]
    leaps = [min(end, max(start, m + random.choice([-2, -1, 1]) * HOURS)) for m in moments]
    mixed = [x for pair in zip(moments, leaps, strict=True) for x in random.sample(pair, 2)]
    return [*mixed, end]


def walker(url: str, *names: str) -> Popen[str]:
    command = [sys.executable, "-P", str(WALKER), url, *names]
    return Popen(command, stdin=PIPE, stdout=PIPE, text=True)


def send(process: Popen[str], moments: list[float]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(moments) + "\n")
    process.stdin.flush()


def answer(process: Popen[str]) -> list[float]:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, "the scheduler died, see its error output"
    return [float(slot) for slot in json.loads(line)]


def walked(process: Popen[str], moments: list[float]) -> list[float]:
    send(process, moments)
    return answer(process)
