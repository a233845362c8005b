"""The peers' harness, with contenders that need nothing from PyPI."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from bench.peers.leagues import LEAGUES
from bench.peers.npm_entrant import NpmEntrant
from bench.peers.standings import COLUMNS, play, table

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("store", LEAGUES)
def test_entrants_are_measured_in_processes_of_their_own_and_compared_with_the_first(
    store: str, tmp_path: Path
) -> None:
    said: list[str] = []
    entrants = [LEAGUES[store].raw, LEAGUES[store].ours]
    with LEAGUES[store].server():
        standings = play(entrants, tmp_path, runs=1, jobs=5, say=said.append)
    raw, ours = (standing.row() for standing in standings)
    assert set(raw["ratios"].values()) == {1.0}
    assert list(ours["figures"]) == list(COLUMNS)
    assert all(figure > 0 for figure in ours["figures"].values())
    assert ours["version"]
    assert "ferryman" in table(standings)
    assert len(said) == 10
    assert list(tmp_path.iterdir()) == []


def test_every_peer_says_where_it_comes_from() -> None:
    peers = [peer for league in LEAGUES.values() for peer in league.peers]
    assert all(peer.package and peer.spec.startswith("bench.peers.") for peer in peers)


def test_a_peer_from_npm_has_the_version_that_npm_installed(tmp_path: Path) -> None:
    about = tmp_path / "node_modules" / "peer" / "package.json"
    about.parent.mkdir(parents=True)
    about.write_text('{"version": "1.2.3"}')
    peer = NpmEntrant("a peer", "bench.peers:Peer", "peer", python=str(tmp_path / "bin" / "python"))
    assert peer.version() == "1.2.3"


def test_an_entrant_that_breaks_is_named_with_what_it_said(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"(?s)ferryman.*KeyError"):
        LEAGUES["sqlite"].ours.measure("nothing", 1, tmp_path)
