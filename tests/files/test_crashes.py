"""A process may die at any call: nothing is lost, doubled or stuck, and its act can be repeated."""

from __future__ import annotations

from random import Random

import pytest
from chaos.disk.broken import BROKEN
from chaos.disk.crashes import enumerate_crashes
from chaos.disk.encounters import ENCOUNTERS
from chaos.disk.faults import enumerate_faults
from chaos.disk.hands import HANDS
from chaos.disk.kills import kill
from chaos.disk.meetings import Meeting, meet
from chaos.disk.mortal import NUMBERS
from chaos.disk.scenes import SCENES, Scene

pytestmark = pytest.mark.thorough

BY_NAME = {scene.name: scene for scene in SCENES}


def name(scene: Scene | Meeting) -> str:
    return scene.name


@pytest.mark.parametrize("scene", SCENES, ids=name)
def test_a_process_may_die_at_any_point_of_its_act(scene: Scene) -> None:
    crashes = enumerate_crashes(scene, every=2)
    assert crashes.findings == []
    assert crashes.points != []


@pytest.mark.parametrize("scene", SCENES, ids=name)
def test_a_process_that_just_came_may_die_at_any_point(scene: Scene) -> None:
    assert enumerate_crashes(scene, fresh=True, every=5).findings == []


@pytest.mark.parametrize("scene", HANDS, ids=name)
def test_what_people_left_is_taken_in_whoever_dies_over_it(scene: Scene) -> None:
    assert enumerate_crashes(scene, fresh=True, every=2).findings == []


@pytest.mark.parametrize("scene", SCENES[::4], ids=name)
def test_a_real_sigkill_leaves_no_more_than_that(scene: Scene) -> None:
    points = len(enumerate_crashes(scene, every=1_000).points)
    for point in Random(scene.name).sample(range(points + 1), 3):
        assert kill(scene, point) == []


@pytest.mark.parametrize("meeting", ENCOUNTERS, ids=name)
def test_two_processes_that_meet_came_one_after_the_other(meeting: Meeting) -> None:
    assert meet(meeting).findings == []


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("scene", SCENES, ids=name)
def test_a_call_that_fails_loses_nothing_that_was_acknowledged(scene: Scene, number: int) -> None:
    faults = enumerate_faults(scene, number, lasting=number == NUMBERS["EIO"], every=5)
    assert faults.findings == []
    assert faults.failed > 0


def test_a_disk_that_stays_full_loses_nothing_that_was_acknowledged() -> None:
    scene = BY_NAME["ack many with hand-off"]
    assert enumerate_faults(scene, NUMBERS["ENOSPC"], lasting=True).findings == []


# -- what is broken on purpose is seen


@pytest.mark.parametrize(
    ("build", "scene", "every"),
    [
        ("task", "ack one", 1),
        ("task", "ack with hand-off", 1),
        ("task", "nack the last attempt", 1),
        ("lease", "poll one", 5),
    ],
)
def test_a_backend_that_is_broken_on_purpose_is_caught_by_a_crash(
    build: str, scene: str, every: int
) -> None:
    assert enumerate_crashes(BY_NAME[scene], every=every, build=BROKEN[build]).findings != []


def test_two_claims_of_one_job_are_caught() -> None:
    meeting = next(one for one in ENCOUNTERS if one.name == "poll and poll")
    assert meet(meeting, BROKEN["lease"]).findings != []
