"""The power may go at any change: what was acknowledged survives, nothing is doubled."""

from __future__ import annotations

import pytest
from chaos.disk.broken import BROKEN
from chaos.disk.power import lose_power
from chaos.disk.relay import die_then_lose_power, die_twice
from chaos.disk.scenes import SCENES, Scene
from chaos.disk.script import script

pytestmark = pytest.mark.thorough

BY_NAME = {scene.name: scene for scene in SCENES}
SEED = 1


def name(scene: Scene) -> str:
    return scene.name


@pytest.mark.parametrize("scene", SCENES, ids=name)
def test_the_power_may_go_at_any_change_of_an_act(scene: Scene) -> None:
    losses = lose_power(scene.name, [*scene.before, scene.act], SEED, each=5)
    assert losses.findings == []
    assert losses.states > losses.moments / 2


@pytest.mark.parametrize("seed", range(8))
def test_the_power_may_go_at_any_change_of_a_mixed_script(seed: int) -> None:
    losses = lose_power(f"script {seed}", script(seed), seed, each=4)
    assert losses.findings == []
    assert losses.states > 100


@pytest.mark.parametrize("scene", SCENES, ids=name)
def test_what_another_process_took_over_survives_the_power_too(scene: Scene) -> None:
    assert die_then_lose_power(scene, SEED).findings == []


@pytest.mark.parametrize("scene", SCENES[::3], ids=name)
def test_the_process_that_takes_over_may_die_too(scene: Scene) -> None:
    assert die_twice(scene, SEED, each=2).findings == []


def test_a_process_dies_at_every_change_of_its_act() -> None:
    relay = die_then_lose_power(BY_NAME["ack with hand-off"], SEED)
    assert relay.deaths > 20
    assert len(relay.states) > 100


def test_the_same_seed_loses_the_same() -> None:
    scene = BY_NAME["ack one"]
    steps = [*scene.before, scene.act]
    one, two = (lose_power(scene.name, steps, 7) for _ in range(2))
    assert (one.moments, one.states) == (two.moments, two.states)


# -- what is broken on purpose is seen


@pytest.mark.parametrize(
    ("build", "scene"),
    [
        ("names", "push one"),
        ("names", "push a batch"),
        ("names", "ack one"),
        ("names", "nack"),
        ("names", "cancel a waiting one"),
        ("content", "push one"),
        ("content", "ack one"),
        ("content", "nack"),
        ("task", "ack one"),
    ],
)
def test_a_backend_that_is_broken_on_purpose_is_caught_by_the_power(build: str, scene: str) -> None:
    chosen = BY_NAME[scene]
    steps = [*chosen.before, chosen.act]
    assert lose_power(scene, steps, SEED, build=BROKEN[build]).findings != []
