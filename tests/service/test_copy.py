"""Copying jobs into another store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.job import State
from ferryman.service.move import copy
from ferryman.testing.conformance.cargo import ALL, populate, whole
from ferryman.testing.conformance.given import (
    ack,
    claim,
    claimed,
    fail,
    pushed,
    settle,
    state_of,
    the_job,
)

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend


def test_a_copy_is_whole_and_leaves_the_source_alone(source: Backend, target: Backend) -> None:
    populate(source, rounds=12)
    before, cells = whole(source), list(source.read_cells(""))
    done = copy(source, target, ALL)
    assert (done.carried, done.existing, list(done.left)) == (len(before), 0, [])
    assert list(whole(target).items()) == list(before.items())
    assert (whole(source), list(source.read_cells(""))) == (before, cells)
    assert not any(counts.paused for counts in source.snapshot().queues.values())


def test_a_second_copy_adds_what_is_missing_and_changes_nothing(
    source: Backend, target: Backend
) -> None:
    populate(source)
    copy(source, target, ALL)
    first = whole(target)
    new = pushed(source)
    settle(source, fail(claim(source)))
    done = copy(source, target, ALL)
    assert (done.carried, done.existing) == (len(first) + 1, len(first))
    assert {**first, new: whole(target)[new]} == whole(target)


def test_a_refreshing_copy_replaces_older_records(source: Backend, target: Backend) -> None:
    job_id, same = pushed(source, 1), pushed(source, 2, queue="post")
    copy(source, target, ALL)
    settle(source, fail(claim(source), "no answer"))
    done = copy(source, target, ALL, refresh=True)
    assert (done.carried, done.existing) == (2, 1)
    assert (the_job(target, job_id).error, state_of(target, same)) == ("no answer", State.PENDING)


def test_a_refreshing_copy_never_goes_back(source: Backend, target: Backend) -> None:
    job_id = pushed(source)
    copy(source, target, ALL)
    settle(target, ack(claim(target)))
    copy(source, target, ALL, refresh=True)
    assert state_of(target, job_id) is State.COMPLETED


def test_a_copy_of_a_job_that_runs_waits_in_the_copy(source: Backend, target: Backend) -> None:
    job = claimed(source)
    copy(source, target, ALL)
    assert (state_of(source, job.id), state_of(target, job.id)) == ("processing", "pending")
    assert the_job(target, job.id).attempts == 0


def test_a_copy_reports_what_the_target_refuses(source: Backend, target: Backend) -> None:
    pushed(source, "body", id="order-7")
    pushed(target, "other", id="order-7")
    done = copy(source, target, ALL)
    assert (done.carried, [left.id for left in done.left]) == (0, ["order-7"])
