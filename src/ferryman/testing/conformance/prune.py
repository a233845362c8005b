"""prune: finished history goes by age and count, unfinished jobs never."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.errors import InvalidMessage
from ferryman.job import State
from ferryman.testing.conformance.given import (
    DAY,
    ack,
    beat,
    claimed,
    in_state,
    settle,
    state_of,
)
from ferryman.testing.conformance.store import Store

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend
    from ferryman.testing.clock import FakeClock

FINISHED = (State.COMPLETED, State.FAILED, State.CANCELLED)


class Prune(Store):
    @pytest.mark.parametrize("state", FINISHED)
    def test_finished_jobs_over_the_age_are_deleted(
        self, backend: Backend, clock: FakeClock, state: State
    ) -> None:
        old = in_state(backend, state)
        clock.advance(2 * DAY + 1)
        young = in_state(backend, state)
        assert backend.prune(older_than=2 * DAY) == 1
        assert backend.get(old) is None
        assert state_of(backend, young) is state

    @pytest.mark.parametrize("state", [State.PENDING, State.PROCESSING, State.PAUSED])
    def test_unfinished_jobs_are_never_pruned(
        self, backend: Backend, clock: FakeClock, state: State
    ) -> None:
        job_id = in_state(backend, state)
        clock.advance(365 * DAY)
        assert backend.prune(older_than=DAY) == 0
        assert state_of(backend, job_id) is state

    def test_a_retried_job_is_not_pruned_for_its_former_end(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job_id = in_state(backend, State.FAILED)
        clock.advance(9 * DAY)
        backend.retry([job_id])
        assert backend.prune(older_than=DAY) == 0

    def test_age_counts_from_the_end_not_from_the_push(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend)
        clock.advance(9 * DAY)
        beat(backend, job)
        settle(backend, ack(job))
        clock.advance(DAY)
        assert backend.prune(older_than=2 * DAY) == 0
        clock.advance(DAY + 1)
        assert backend.prune(older_than=2 * DAY) == 1

    @pytest.mark.parametrize("seconds", [0, 3_600, DAY - 1])
    def test_history_younger_than_a_day_cannot_be_pruned(
        self, backend: Backend, clock: FakeClock, seconds: float
    ) -> None:
        job_id = in_state(backend, State.COMPLETED)
        clock.advance(9 * DAY)
        with pytest.raises(InvalidMessage) as refused:
            backend.prune(older_than=seconds)
        assert refused.value.field == "older_than"
        assert state_of(backend, job_id) is State.COMPLETED

    def test_a_day_is_allowed(self, backend: Backend, clock: FakeClock) -> None:
        in_state(backend, State.COMPLETED)
        clock.advance(DAY + 1)
        assert backend.prune(older_than=DAY) == 1

    def test_only_the_named_states_are_pruned(self, backend: Backend, clock: FakeClock) -> None:
        ids = {state: in_state(backend, state) for state in FINISHED}
        clock.advance(9 * DAY)
        pruned = backend.prune(older_than=DAY, states=[State.COMPLETED, State.CANCELLED])
        assert pruned == 2
        assert state_of(backend, ids[State.FAILED]) is State.FAILED

    def test_keep_spares_the_newest(self, backend: Backend, clock: FakeClock) -> None:
        ids = old_jobs(backend, clock, 5)
        assert backend.prune(older_than=DAY, keep=2) == 3
        assert [backend.get(job_id) is None for job_id in ids] == [True] * 3 + [False] * 2

    def test_keeping_more_than_there_are_deletes_nothing(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        old_jobs(backend, clock, 3)
        assert backend.prune(older_than=DAY, keep=10) == 0

    def test_keep_never_shortens_the_age(self, backend: Backend, clock: FakeClock) -> None:
        for _ in range(3):
            in_state(backend, State.COMPLETED)
        clock.advance(DAY / 2)
        assert backend.prune(older_than=DAY, keep=1) == 0

    def test_at_most_limit_are_deleted_the_oldest_first(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        ids = old_jobs(backend, clock, 5)
        assert backend.prune(older_than=DAY, limit=2) == 2
        assert [backend.get(job_id) is None for job_id in ids] == [True] * 2 + [False] * 3
        assert backend.prune(older_than=DAY) == 3

    def test_an_empty_store_has_nothing_to_prune(self, backend: Backend) -> None:
        assert backend.prune(older_than=DAY) == 0

    def test_jobs_of_runs_to_spare_stay_and_do_not_count(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        ids = []
        for run in ("dear", "dear", "other", None, None, None):
            job = claimed(backend, meta={} if run is None else {"run": run, "stage": "s"})
            settle(backend, ack(job))
            ids.append(job.id)
            clock.advance(1)
        clock.advance(2 * DAY)
        assert backend.prune(older_than=DAY, spare=["dear", "absent"], limit=1) == 1
        assert backend.prune(older_than=DAY, spare=["dear"], keep=2) == 1
        left = [job_id for job_id in ids if backend.get(job_id) is not None]
        assert left == [*ids[:2], *ids[4:]]
        assert backend.prune(older_than=DAY) == 4


def old_jobs(backend: Backend, clock: FakeClock, count: int) -> list[str]:
    """Completed jobs, a minute apart, all over a week old; the oldest first."""
    ids = []
    for _ in range(count):
        ids.append(in_state(backend, State.COMPLETED))
        clock.advance(60)
    clock.advance(7 * DAY)
    return ids
