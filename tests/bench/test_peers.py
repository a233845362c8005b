"""The peers' harness, with contenders that need nothing from PyPI."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from bench.peers.__main__ import OURS, PEERS
from bench.peers.league import COLUMNS, play, table

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_entrants_are_measured_in_processes_of_their_own_and_compared_with_the_first(
    tmp_path: Path,
) -> None:
    said: list[str] = []
    standings = play(OURS, runs=1, jobs=5, say=said.append)
    raw, ours = (standing.row() for standing in standings)
    assert set(raw["ratios"].values()) == {1.0}
    assert list(ours["figures"]) == list(COLUMNS)
    assert all(figure > 0 for figure in ours["figures"].values())
    assert ours["version"]
    assert "ferryman" in table(standings)
    assert len(said) == 10
    assert list(tmp_path.iterdir()) == []


def test_every_peer_says_where_it_comes_from() -> None:
    assert all(peer.package and peer.spec.startswith("bench.peers.") for peer in PEERS)


def test_an_entrant_that_breaks_is_named_with_what_it_said() -> None:
    with pytest.raises(RuntimeError, match=r"(?s)ferryman.*KeyError"):
        OURS[1].measure("nothing", 1)
