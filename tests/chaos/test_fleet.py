"""What is planned for three S3 nodes; the campaigns themselves are in tests/system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from chaos.cast import FLEET, node_of
from chaos.plan import Plan
from chaos.stores import stores_named

from tests.system.test_campaign import campaign

if TYPE_CHECKING:
    from pathlib import Path

    from chaos.faults import Fault

STRICT, RELAXED = stores_named("s3")
PLAN = Plan.of(7, 300, STRICT.cast)


def of_kind(kind: str) -> list[Fault]:
    return [fault for fault in PLAN.faults if fault.kind == kind]


def test_every_node_is_cut_off_for_less_and_for_more_than_a_lease() -> None:
    cuts = of_kind("cut")
    assert {cut.target for cut in cuts} == set(FLEET.nodes)
    assert {cut.instead for cut in cuts} == {"reset", "silent"}
    lengths = [cut.seconds for cut in cuts]
    assert min(lengths) < FLEET.pace.lease < max(lengths)


def test_a_folder_goes_only_when_every_process_of_its_node_has_been_killed() -> None:
    wipes = of_kind("wipe")
    assert len(wipes) > 2
    for wipe in wipes:
        dead = {f.target for f in PLAN.faults if f.at == wipe.at and f.kind == "kill"}
        assert dead == {name for name in FLEET.everyone if node_of(name) == wipe.target}
    assert PLAN.falls > len(wipes)


def test_a_relaxed_node_keeps_its_folder_in_the_same_plan() -> None:
    kept = tuple(fault for fault in PLAN.faults if fault.kind != "wipe")
    assert Plan.of(7, 300, RELAXED.cast).faults == kept


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--broken", "claim"), "needs --backend s3"),
        (("--consistency", "relaxed"), "leave --consistency relaxed out"),
        (("--backend", "s3", "--consistency", "relaxed", "--broken", "fence"), "too little"),
    ],
)
def test_what_has_no_meaning_is_refused(
    options: tuple[str, ...], reason: str, tmp_path: Path
) -> None:
    code, said, errors = campaign(tmp_path, *options)
    assert (code, said) == (2, "")
    assert reason in errors
