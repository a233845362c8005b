"""A move may die at any call on either side: run again, it ends as if nobody had died."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from chaos.disk.crossings import CROSSINGS, Crossing
from chaos.disk.moves import die_twice_moving, enumerate_moves

from ferryman.service.move import page
from ferryman.service.move.journal import Journal
from ferryman.service.move.pauses import BY_US, CELLS, Pauses

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferryman.job import Job

pytestmark = pytest.mark.thorough

BY_NAME = {crossing.name: crossing for crossing in CROSSINGS}
SEED = 1


def name(crossing: Crossing) -> str:
    return crossing.name


@pytest.mark.parametrize("crossing", CROSSINGS, ids=name)
def test_a_move_may_die_at_any_point(crossing: Crossing) -> None:
    crashes = enumerate_moves(crossing, every=101)
    assert crashes.findings == []
    assert len(crashes.points) > 300


@pytest.mark.parametrize("crossing", CROSSINGS, ids=name)
def test_the_move_that_goes_on_may_die_too(crossing: Crossing) -> None:
    assert die_twice_moving(crossing, SEED, count=4).findings == []


# -- what is broken on purpose is seen


def test_copies_that_run_before_their_originals_are_gone_are_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def free(job: Job) -> Job:
        return job

    monkeypatch.setattr(page, "_held", free)
    assert "both can run it" in findings("move a batch")


def test_a_move_that_keeps_no_journal_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def forget(_: Journal, jobs: Iterable[Job]) -> None:
        """Nothing is written down."""

    monkeypatch.setattr(Journal, "write", forget)
    assert "<State.PAUSED: 'paused'> / <State.PENDING: 'pending'>" in findings("move a batch")


def test_a_pause_that_nobody_remembers_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    pause = Pauses.pause

    def pause_first(pauses: Pauses, queues: Iterable[str]) -> None:
        counts = pauses._store.snapshot().queues
        running = [queue for queue in queues if not counts[queue].paused]
        for queue in running:
            pauses._store.pause_queue(queue)
        pause(pauses, queues)
        for queue in running:
            pauses._store.write_cell(CELLS + queue, BY_US, expect=None)

    monkeypatch.setattr(Pauses, "pause", pause_first)
    assert "source: paused are ['mail', 'scan'], expected ['scan']" in findings("move what failed")


def findings(crossing: str) -> str:
    return "\n".join(enumerate_moves(BY_NAME[crossing], every=13).findings)
