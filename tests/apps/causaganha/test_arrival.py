"""The same ranking, whoever works and in whatever order editions arrive."""

from __future__ import annotations

import random
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from causaganha.app import CausaGanha
from causaganha.ranking import as_csv, ranking
from causaganha.stand_ins.town import town
from ferryman.testing import wait_until

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def ranked(folder: Path, *, workers: int, seed: int | None, **where: Any) -> str:
    """What so many workers make of seven editions, in the order of the court or in another."""
    folder.mkdir()
    with town(folder, **where) as place, ExitStack() as stack:
        apps = [stack.enter_context(CausaGanha(place.settings)) for _ in range(workers)]
        editions = list(apps[0].editions_of(2025))
        if seed is not None:
            random.Random(seed).shuffle(editions)
        for each in editions:
            apps[0].start(each)
        for app in apps:
            worker = app.worker()
            worker.start()
            stack.callback(worker.join)
        every = {"completed": len(editions)}
        wait_until(
            lambda: apps[0].status()["ratings"] == every, timeout=50, what="the last edition"
        )
        return as_csv(ranking(apps[0].db, least=1))


def test_workers_and_order_change_no_byte_of_the_ranking(
    tmp_path: Path, stores: Mapping[str, Any]
) -> None:
    alone = ranked(tmp_path / "alone", workers=1, seed=None)
    together = ranked(tmp_path / "together", workers=3, seed=11, **stores)
    assert together == alone
    assert alone.count("\n") > 5
