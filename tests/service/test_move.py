"""Moving jobs between two stores."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from socket import gethostname
from typing import TYPE_CHECKING

import pytest

from ferryman.errors import NotAllowed
from ferryman.filter import Filter
from ferryman.job import State
from ferryman.service.move import Step, move
from ferryman.testing.conformance.cargo import ALL, assert_moved, populate, whole
from ferryman.testing.conformance.given import (
    QUEUE,
    ack,
    claim,
    claimed,
    claims,
    pushed,
    settle,
    state_of,
    the_job,
)
from tests.service.shores import PAIRS

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend
    from ferryman.testing import FakeClock


def is_paused(store: Backend, queue: str = QUEUE) -> bool:
    counts = store.snapshot().queues.get(queue)
    return counts is not None and counts.paused


@pytest.mark.parametrize("stores", PAIRS, ids="-to-".join, indirect=True)
def test_every_job_arrives_as_it_was_and_in_its_order(source: Backend, target: Backend) -> None:
    populate(source, rounds=25)
    before = whole(source)
    done = move(source, target, ALL)
    assert (done.carried, done.existing, list(done.left)) == (len(before), 0, [])
    assert_moved(before, source, target)


def test_only_what_matches_is_moved(source: Backend, target: Backend) -> None:
    populate(source)
    move(source, target, Filter.parse("state:failed,completed queue:post"))
    assert {job.state for job in whole(target).values()} == {State.FAILED, State.COMPLETED}
    assert {job.queue for job in whole(target).values()} == {"post"}
    assert State.PENDING in {job.state for job in whole(source).values()}


def test_nothing_to_move_is_no_fault(source: Backend, target: Backend) -> None:
    assert move(source, target, ALL).carried == 0


def test_moved_jobs_run_at_the_target(source: Backend, target: Backend) -> None:
    job_id = pushed(source, "body")
    move(source, target, ALL)
    assert claims(source) == []
    assert claim(target).id == job_id


def test_queues_are_paused_meanwhile_and_get_their_own_pause_back(
    source: Backend, target: Backend
) -> None:
    pushed(source)
    pushed(source, queue="post")
    source.pause_queue("post")
    seen = []

    def look(step: Step) -> None:
        seen.append((step.kind, is_paused(source), is_paused(source, "post")))

    move(source, target, ALL, tell=look)
    assert ("carried", True, True) in seen
    assert (is_paused(source), is_paused(source, "post")) == (False, True)
    assert (is_paused(target), is_paused(target, "post")) == (False, False)


def test_a_failed_move_gives_the_pauses_back_too(source: Backend, target: Backend) -> None:
    pushed(source)

    def fail_now(step: Step) -> None:
        raise ConnectionError(step.kind)

    with pytest.raises(ConnectionError):
        move(source, target, ALL, tell=fail_now)
    assert not is_paused(source)
    assert move(source, target, ALL).carried == 1


def test_a_move_leaves_no_cells_behind_but_its_mark(source: Backend, target: Backend) -> None:
    populate(source)
    move(source, target, ALL)
    assert [cell.key for cell in source.read_cells("")] == ["move/mark"]
    assert list(target.read_cells("")) == []


def test_jobs_that_run_are_left_and_reported(source: Backend, target: Backend) -> None:
    running = claimed(source)
    waiting = pushed(source)
    done = move(source, target, ALL)
    assert [(left.id, left.queue) for left in done.left] == [(running.id, QUEUE)]
    assert "runs" in done.left[0].why
    assert list(whole(target)) == [waiting]
    assert settle(source, ack(running)).applied


def test_jobs_that_run_may_end_within_the_wait(source: Backend, target: Backend) -> None:
    running = claimed(source)
    waited: list[Step] = []

    def look(step: Step) -> None:
        waited.append(step)
        if step.kind == "waiting":
            settle(source, ack(running, '"done"'))

    done = move(source, target, ALL, wait=30, tell=look)
    assert Step("waiting", 1) in waited
    assert (done.carried, list(done.left)) == (1, [])
    assert the_job(target, running.id).result == '"done"'


def test_what_a_dead_worker_held_is_reaped_and_moved(
    source: Backend, target: Backend, clock: FakeClock
) -> None:
    job = claimed(source)
    clock.advance(3_600)
    assert list(move(source, target, ALL).left) == []
    assert the_job(target, job.id).error == "Worker timed out"


def test_other_work_under_the_same_id_stays_at_the_source(source: Backend, target: Backend) -> None:
    pushed(source, "body", id="order-7")
    pushed(target, "other", id="order-7")
    fine = pushed(source)
    done = move(source, target, ALL)
    assert [left.id for left in done.left] == ["order-7"]
    assert "other work under this id" in done.left[0].why
    assert the_job(source, "order-7").state is State.PENDING
    assert state_of(target, fine) is State.PENDING


def test_an_unfinished_job_with_the_same_key_keeps_it_at_the_source(
    source: Backend, target: Backend
) -> None:
    job_id = pushed(source, "body", key="ana")
    pushed(target, "other", key="ana")
    done = move(source, target, ALL)
    assert [left.id for left in done.left] == [job_id]
    assert "'ana'" in done.left[0].why
    assert state_of(source, job_id) is State.PENDING


def test_a_job_that_no_store_accepts_keeps_no_other_from_moving(
    source: Backend, target: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [pushed(source, number) for number in range(5)]
    get = source.get

    def damaged(job_id: str) -> object:
        job = get(job_id)
        return replace(job, body="{") if job is not None and job_id == ids[2] else job

    monkeypatch.setattr(source, "get", damaged)
    done = move(source, target, ALL)
    assert [left.id for left in done.left] == [ids[2]]
    assert "body" in done.left[0].why
    assert list(whole(target)) == [*ids[:2], *ids[3:]]


def test_a_store_is_not_moved_onto_itself(source: Backend) -> None:
    job_id = pushed(source)
    with pytest.raises(NotAllowed, match="same store"):
        move(source, source, ALL)
    assert claim(source).id == job_id


def test_one_move_at_a_time_from_a_store(source: Backend, target: Backend) -> None:
    pushed(source)

    def second(step: Step) -> None:
        with pytest.raises(NotAllowed, match="another move"):
            move(source, target, ALL)

    assert move(source, target, ALL, tell=second).carried == 1


def test_a_move_that_died_elsewhere_is_in_the_way_for_a_minute(
    source: Backend, target: Backend, clock: FakeClock
) -> None:
    source.write_cell("move/lock", "elsewhere:7:abcdef", expect=0, ttl=60)
    with pytest.raises(NotAllowed, match="elsewhere:7"):
        move(source, target, ALL)
    clock.advance(61)
    move(source, target, ALL)


def test_a_move_that_died_on_this_machine_is_not_in_the_way(
    source: Backend, target: Backend
) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    restarted = os.getpid()
    for pid in (ended.pid, restarted):
        source.write_cell("move/lock", f"{gethostname()}:{pid}:abcdef", expect=0, ttl=60)
        move(source, target, ALL)


def test_a_lock_that_another_took_ends_the_move(source: Backend, target: Backend) -> None:
    job_id = pushed(source)

    def steal(step: Step) -> None:
        source.write_cell("move/lock", "elsewhere:7:abcdef", expect=None)

    with pytest.raises(NotAllowed, match="elsewhere:7"):
        move(source, target, ALL, tell=steal)
    assert (is_paused(source), state_of(source, job_id)) == (False, State.PENDING)
    [lock] = source.read_cells("move/lock")
    assert lock.value.startswith("elsewhere")
