from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from chaos.cast import FLEET, HANDOFF, HOUSE, SERVED, Cast
from chaos.faults import faults
from chaos.handlers import Handlers
from chaos.journal import Journal
from chaos.plan import Plan
from chaos.producer import next_step
from chaos.records import Pushed, Record, Tried

from ferryman import Ferry

if TYPE_CHECKING:
    from pathlib import Path

PLAN = Plan.of(7, 200)
SCRIPT = PLAN.scripts[HOUSE.producers[0]]


def test_the_same_seed_is_the_same_plan_and_another_is_not() -> None:
    assert Plan.of(7, 200) == PLAN
    assert Plan.of(8, 200).faults != PLAN.faults
    assert Plan.of(8, 200).scripts != PLAN.scripts


def test_a_server_crashes_a_hundred_times_beside_a_thousand_kills() -> None:
    for seed in range(10):
        planned = faults(random.Random(seed), 1_000, SERVED)
        assert sum(fault.kind == "crash" for fault in planned) >= 100


@pytest.mark.parametrize("cast", [HOUSE, SERVED, FLEET], ids=["house", "served", "fleet"])
@pytest.mark.parametrize("kills", [1, 2, 50, 1_000])
def test_a_plan_has_as_many_kills_as_asked_for(kills: int, cast: Cast) -> None:
    faults = Plan.of(3, kills, cast).faults
    assert sum(fault.kind == "kill" for fault in faults) == kills
    assert [fault.at for fault in faults] == sorted(fault.at for fault in faults)


def test_freezes_outlast_the_lease() -> None:
    freezes = [fault.seconds for fault in PLAN.faults if fault.kind == "freeze"]
    assert len(freezes) > 20
    assert min(freezes) > HOUSE.pace.lease


def test_every_planned_payload_fits_its_handler(tmp_path: Path) -> None:
    ferry = Ferry("memory://")
    Handlers(ferry, Journal(tmp_path / "journal"))
    planned = [one for steps in PLAN.scripts.values() for step in steps for one in step.messages]
    for one in planned:
        task = ferry.tasks.get(one.task)
        if one.queue != HANDOFF:
            assert task is not None, one.task
            task.signature.check(one.payload)
    assert {one.task for one in planned} >= {task.name for task in ferry.tasks}


def test_only_pushes_with_given_ids_are_repeated() -> None:
    assert any(step.repeat for step in SCRIPT)
    assert all(one.id for step in SCRIPT if step.repeat for one in step.messages)


def acknowledged(step: int) -> Pushed:
    return Pushed(step, "id", "token", 0.0)


def test_a_new_life_goes_on_after_what_was_acknowledged() -> None:
    assert next_step([], SCRIPT) == 0
    records: list[Record] = [Tried("p", 0), acknowledged(0), Tried("p", 1), acknowledged(1)]
    assert next_step(records, SCRIPT) == 2


def test_a_push_of_unknown_outcome_is_repeated_or_left_as_the_script_says() -> None:
    repeated = next(index for index, step in enumerate(SCRIPT) if step.repeat)
    left = next(index for index, step in enumerate(SCRIPT) if not step.repeat)
    assert next_step([Tried("p", repeated)], SCRIPT) == repeated
    assert next_step([Tried("p", left)], SCRIPT) == left + 1
