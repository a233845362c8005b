"""Moves while others push, work and act on both stores."""

from __future__ import annotations

from contextlib import closing
from threading import Thread
from typing import TYPE_CHECKING, Any, cast

import pytest

from ferryman.filter import Filter
from ferryman.job import State
from ferryman.queue.open import open_backend
from ferryman.service.move import Step, copy, move
from ferryman.testing import wait_until
from ferryman.testing.conformance.cargo import ALL, whole
from ferryman.testing.conformance.given import (
    QUEUE,
    ack,
    claim,
    claims,
    fail,
    in_state,
    pushed,
    settle,
    state_of,
    the_job,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ferryman.queue.contract import Backend


def test_a_job_retried_at_the_source_after_it_was_copied_is_moved_as_retried(
    source: Backend, target: Backend
) -> None:
    job_id = in_state(source, State.FAILED)
    copy(source, target, ALL)
    source.retry([job_id])
    done = move(source, target, ALL)
    assert (done.carried, done.existing) == (1, 0)
    job = the_job(target, job_id)
    assert (job.state, job.generation) == (State.PENDING, 2)


def test_an_older_record_that_runs_at_the_target_is_left_in_peace(
    source: Backend, target: Backend
) -> None:
    job_id = in_state(source, State.FAILED)
    copy(source, target, ALL)
    target.retry([job_id])
    claim(target)
    for _ in range(2):
        source.retry([job_id])
        settle(source, fail(claim(source)))
    done = move(source, target, ALL)
    assert [(left.id, left.why) for left in done.left] == [(job_id, "the target runs it already")]
    assert state_of(target, job_id) is State.PROCESSING


def test_what_the_target_has_taken_further_is_deleted_at_the_source(
    source: Backend, target: Backend
) -> None:
    job_id = pushed(source)
    copy(source, target, ALL)
    settle(target, ack(claim(target), '"done"'))
    done = move(source, target, ALL)
    assert (done.carried, done.existing) == (1, 1)
    assert (source.get(job_id), the_job(target, job_id).result) == (None, '"done"')


class Meddled:
    """A store in which something happens once, right before or after one of its verbs."""

    def __init__(self, store: Backend, verb: str, meddle: Callable[[], None], when: str) -> None:
        self._store = store
        self._verb = verb
        self._deeds = {when: [meddle]}

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._store, name)
        if name != self._verb:
            return call

        def meddled(*args: Any) -> Any:
            self._happen("before")
            answer = call(*args)
            self._happen("after")
            return answer

        return meddled

    def _happen(self, when: str) -> None:
        while deeds := self._deeds.get(when):
            deeds.pop()()


def run_at(store: Backend) -> None:
    """A queue that someone resumed is worked on at once."""
    store.resume_queue(QUEUE)
    settle(store, ack(claim(store), '"done"'))


def claim_at(store: Backend) -> None:
    store.resume_queue(QUEUE)
    claim(store)


ACTS = [("retry", "failed", "pending"), ("resume", "paused", "pending")]
ACTS += [("cancel", "pending", "cancelled"), ("pause", "pending", "paused")]
ACTS += [("cancel", "paused", "cancelled")]


@pytest.mark.parametrize("moment", ["copied", "deleted"])
@pytest.mark.parametrize("acted", ACTS, ids=" ".join)
def test_an_act_on_a_job_on_its_way_holds_at_the_target(
    source: Backend, target: Backend, acted: tuple[str, str, str], moment: str
) -> None:
    act, state, end = acted
    job_id = in_state(source, State(state))

    def meddle() -> None:
        assert getattr(source, act)([job_id])[0].refused is None

    if moment == "copied":
        move(source, cast("Backend", Meddled(target, "restore", meddle, "after")), ALL)
    else:
        move(cast("Backend", Meddled(source, "delete", meddle, "before")), target, ALL)
    assert (source.get(job_id), state_of(target, job_id)) == (None, State(end))
    assert the_job(target, job_id).generation == (2 if act == "retry" else 1)


def test_a_job_that_ran_at_the_source_after_it_was_copied_does_not_run_again(
    source: Backend, target: Backend
) -> None:
    job_id = pushed(source)
    meddled = Meddled(target, "restore", lambda: run_at(source), "after")
    move(source, cast("Backend", meddled), ALL)
    assert (source.get(job_id), the_job(target, job_id).result) == (None, '"done"')


@pytest.mark.parametrize("moment", ["copied", "deleted"])
def test_a_job_that_was_claimed_on_its_way_stays_with_its_worker(
    source: Backend, target: Backend, moment: str
) -> None:
    job_id = pushed(source)
    if moment == "copied":
        over = Meddled(target, "restore", lambda: claim_at(source), "after")
        done = move(source, cast("Backend", over), ALL)
    else:
        over = Meddled(source, "delete", lambda: claim_at(source), "before")
        done = move(cast("Backend", over), target, ALL)
    assert [left.id for left in done.left] == [job_id]
    assert (state_of(source, job_id), target.get(job_id)) == (State.PROCESSING, None)


def test_a_job_that_was_deleted_on_its_way_is_gone(source: Backend, target: Backend) -> None:
    job_id = pushed(source)
    meddled = Meddled(target, "restore", lambda: deleted(source, job_id), "after")
    move(source, cast("Backend", meddled), ALL)
    assert (source.get(job_id), target.get(job_id)) == (None, None)


def deleted(store: Backend, job_id: str) -> None:
    store.delete([job_id])


def test_a_job_that_the_target_runs_before_it_is_released_is_the_targets(
    source: Backend, target: Backend
) -> None:
    job_id = pushed(source)

    def meddle() -> None:
        target.resume([job_id])
        settle(target, ack(claim(target), '"done"'))

    move(source, cast("Backend", Meddled(target, "restore", meddle, "after")), ALL)
    assert (source.get(job_id), the_job(target, job_id).result) == (None, '"done"')


def test_jobs_pushed_meanwhile_are_moved_too(source: Backend, target: Backend) -> None:
    first = pushed(source, 1)
    late: list[str] = []

    def look(step: Step) -> None:
        if step.kind == "carried" and not late:
            late.append(pushed(source, 2))

    assert move(source, target, ALL, tell=look).carried == 2
    assert list(whole(target)) == [first, *late]


def test_a_producer_that_never_stops_does_not_keep_a_move_busy_for_ever(
    source: Backend, target: Backend
) -> None:
    pushed(source)

    def look(step: Step) -> None:
        if step.kind == "carried":
            pushed(source)

    done = move(source, target, ALL, tell=look)
    assert done.carried > 1
    assert [left.why for left in done.left] == ["it came or changed while the move was under way"]


def test_workers_on_both_sides_run_each_job_once(tmp_path: Path) -> None:
    urls = [f"sqlite:///{tmp_path}/{name}.db" for name in ("one", "other")]
    with closing(open_backend(urls[0])) as one, closing(open_backend(urls[1])) as other:
        ids = [pushed(one, number) for number in range(400)]
        ran: list[str] = []
        stop: list[bool] = []

        def work(store: Backend, name: str) -> None:
            while not stop:
                for job in claims(store, 3, worker=name):
                    ran.append(job.id)
                    settle(store, ack(job))

        crew = [Thread(target=work, args=(store, str(store))) for store in (one, other)]
        for each in crew:
            each.start()
        try:
            while move(one, other, Filter.parse("-state:completed"), wait=1).left:
                pass
            wait_until(lambda: len(ran) >= len(ids), what="all jobs to have run")
        finally:
            stop.append(True)
            for each in crew:
                each.join()
    assert sorted(ran) == sorted(ids)
