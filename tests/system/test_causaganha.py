"""CausaGanha while workers are killed and every service misbehaves. The services are the witnesses.

About a minute each, which `make test` has no room for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from chaos.causaganha.passage import BACKENDS, Terms, passage
from chaos.causaganha.verdict import judged

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.timeout(300)
@pytest.mark.parametrize("backend", BACKENDS)
def test_kills_and_mishaps_leave_no_trace(backend: str, tmp_path: Path) -> None:
    found = judged(Terms(backend=backend, editions=20, workers=6, seed=7, rough=True), tmp_path)
    assert found.clean, [found.row(), *found.findings()]
    assert found.rough.kills >= 5


@pytest.mark.timeout(300)
@pytest.mark.parametrize("backend", BACKENDS)
def test_the_ranking_is_the_same_bytes_whatever_the_workers_the_order_and_the_kills(
    backend: str, tmp_path: Path
) -> None:
    alone = passage(Terms(backend=backend, editions=12, workers=1), tmp_path / "alone")
    shuffled = passage(
        Terms(backend=backend, editions=12, workers=3, seed=3), tmp_path / "shuffled"
    )
    killed = passage(
        Terms(backend=backend, editions=12, workers=3, seed=4, rough=True), tmp_path / "killed"
    )
    assert alone.ranking == shuffled.ranking == killed.ranking
    assert alone.ranking.count("\n") > 10
    assert killed.kills >= 5
