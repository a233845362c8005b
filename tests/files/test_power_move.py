"""The power may go while jobs are moved between two stores: none is lost, none can run twice."""

from __future__ import annotations

import pytest
from chaos.disk.broken import BROKEN
from chaos.disk.crossings import CROSSINGS, Crossing
from chaos.disk.move_power import die_then_lose_power_moving, lose_power_moving

pytestmark = pytest.mark.thorough

BY_NAME = {crossing.name: crossing for crossing in CROSSINGS}
SHORT = [BY_NAME[name] for name in ("move what failed", "move a queue", "move a batch")]
LASTING = [crossing for crossing in CROSSINGS if not crossing.claimed]
SEED = 1


def name(crossing: Crossing) -> str:
    return crossing.name


@pytest.mark.parametrize("crossing", SHORT, ids=name)
def test_the_power_may_go_at_any_change_of_a_move(crossing: Crossing) -> None:
    plugs = lose_power_moving(crossing, SEED, each=2)
    assert plugs.findings == []
    assert len(plugs.states) > plugs.moments / 2


@pytest.mark.parametrize("crossing", LASTING, ids=name)
def test_what_a_second_run_of_a_move_answered_survives_the_power(crossing: Crossing) -> None:
    plugs = die_then_lose_power_moving(crossing, SEED, each=3, every=7)
    assert plugs.findings == []
    assert plugs.moments > 10


@pytest.mark.parametrize("build", ["names", "content"])
def test_a_backend_that_is_broken_on_purpose_is_caught_by_the_power(build: str) -> None:
    assert lose_power_moving(BY_NAME["move a batch"], SEED, build=BROKEN[build]).findings != []
