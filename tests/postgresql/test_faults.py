"""The line is cut at every message of a verb: nothing is lost, doubled, or charged for it."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from ferryman import Ferry, Job, Retry, Settings, State
from ferryman.backends.postgresql import PostgresqlBackend, connect
from ferryman.clock import SystemClock
from ferryman.testing.conformance.given import LEASE, WORKER, a_message, ack, nack, the_job
from ferryman.testing.waiting import wait_until
from tests.postgresql.cuts import Cuts
from tests.servers.postgres_wire import PLACES, Trial, Wire

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import psycopg

    from ferryman.message import Message

pytestmark = pytest.mark.thorough

FEW, MANY = 3, 25
"""Messages of a batch that is pushed in calls, and of one that is streamed."""


@pytest.fixture
def wire(postgres: str) -> Iterator[Wire]:
    with Wire(postgres) as wire:
        yield wire


@pytest.fixture
def wired(postgres_url: str, wire: Wire) -> Iterator[PostgresqlBackend]:
    """The store by way of the wire; `backend` is the same one, reached directly."""
    with closing(connect(wire.url(postgres_url), SystemClock())) as store:
        yield store


@pytest.fixture
def cuts(
    wired: PostgresqlBackend,
    backend: PostgresqlBackend,
    postgres_admin: psycopg.Connection[tuple[object, ...]],
) -> Cuts:
    return Cuts(wired, backend, postgres_admin)


@pytest.mark.parametrize(("key", "points"), [(None, 16), ("k", 60)])
def test_a_push_that_is_cut_anywhere_and_repeated_makes_one_job(
    backend: PostgresqlBackend, wire: Wire, cuts: Cuts, key: str | None, points: int
) -> None:
    for trial in wire.every_cut():
        message = a_message("body", id=trial.name, queue=trial.name, key=key)
        [answer] = cuts.push(trial, [message])
        assert answer.status in ("created", "existing")
        assert [job.id for job in claimed(backend, trial)] == [message.id]
    cuts.check(points)


@pytest.mark.parametrize("size", [FEW, MANY])
def test_a_batch_that_is_cut_anywhere_and_repeated_makes_each_job_once(
    backend: PostgresqlBackend, wire: Wire, cuts: Cuts, size: int
) -> None:
    for trial in wire.every_cut():
        batch = [a_message(n, id=f"{trial.name}-{n}", queue=trial.name) for n in range(size)]
        answers = cuts.push(trial, batch)
        # The batch is one transaction: all of it was there before, or nothing.
        assert {answer.status for answer in answers} in ({"created"}, {"existing"})
        found = [job.id for job in claimed(backend, trial)]
        assert sorted(found) == sorted(message.id for message in batch)
    cuts.check(60)


def test_a_poll_that_is_cut_anywhere_costs_no_attempt(
    backend: PostgresqlBackend, wire: Wire, cuts: Cuts
) -> None:
    for turn, trial in enumerate(wire.every_cut(PLACES)):
        pushed = backend.push([a_message(n, queue=trial.name) for n in range(FEW)])
        jobs = cuts.poll(trial, 2 * turn)
        assert sorted(job.id for job in jobs) == sorted(answer.id for answer in pushed)
        assert {(job.attempts, job.errors) for job in jobs} == {(1, ())}
        assert all(receipt.applied for receipt in backend.settle([ack(job) for job in jobs]))
    cuts.check(24)


def test_an_ack_that_is_cut_anywhere_and_repeated_is_applied_once(
    backend: PostgresqlBackend, wire: Wire, cuts: Cuts
) -> None:
    for trial in wire.every_cut(PLACES):
        jobs = running(backend, trial, FEW)
        cuts.settle(trial, [ack(job, '"done"') for job in jobs])
        for job in jobs:
            kept = the_job(backend, job.id)
            assert (kept.state, kept.attempts, kept.result) == (State.COMPLETED, 1, '"done"')
    cuts.check(24)


def test_a_hand_off_that_is_cut_anywhere_and_repeated_happens_once(
    backend: PostgresqlBackend, wire: Wire, cuts: Cuts
) -> None:
    for trial in wire.every_cut():
        jobs = running(backend, trial, 2)
        children = [a_message(id=f"child-of-{job.id}", queue=trial.name) for job in jobs]
        pairs = zip(jobs, children, strict=True)
        cuts.settle(trial, [ack(job, children=[child]) for job, child in pairs])
        found = [job.id for job in claimed(backend, trial)]
        assert sorted(found) == sorted(child.id for child in children)
        assert {the_job(backend, job.id).state for job in jobs} == {State.COMPLETED}
    cuts.check(60)


def test_a_nack_that_is_cut_anywhere_and_repeated_is_charged_once(
    backend: PostgresqlBackend, wire: Wire, cuts: Cuts
) -> None:
    for trial in wire.every_cut():
        [job] = running(backend, trial, 1)
        cuts.settle(trial, [nack(job, delay=0)])
        check_charged_once(the_job(backend, job.id))
    cuts.check(60)


def test_ends_of_all_kinds_that_are_cut_anywhere_and_repeated_are_applied_once(
    backend: PostgresqlBackend, wire: Wire, cuts: Cuts
) -> None:
    for trial in wire.every_cut():
        done, parent, *failed = running(backend, trial, 4)
        child = a_message(id=f"child-{trial.name}", queue=trial.name)
        nacks = [nack(job, delay=60) for job in failed]
        cuts.settle(trial, [ack(done), ack(parent, children=[child]), *nacks])
        assert [job.id for job in claimed(backend, trial)] == [child.id]
        for job in failed:
            check_charged_once(the_job(backend, job.id))
    cuts.check(60)


def test_a_store_that_is_cut_off_while_it_is_opened_can_be_opened_again(
    postgres_url: str, backend: PostgresqlBackend, wire: Wire, cuts: Cuts
) -> None:
    for trial in wire.every_cut():
        message = a_message(id=trial.name, queue=trial.name)

        def push(message: Message = message) -> None:
            with closing(connect(wire.url(postgres_url), SystemClock())) as store:
                store.push([message])

        cuts.insist(trial, push, lambda m=message: cuts.none_of([m]))  # type: ignore[misc]
        assert [job.id for job in claimed(backend, trial)] == [trial.name]
    cuts.check(90)


def test_a_worker_whose_line_is_cut_again_and_again_runs_every_job_once(
    postgres_url: str, wire: Wire
) -> None:
    runs: list[str] = []
    with Ferry(wire.url(postgres_url)) as ferry, Ferry(postgres_url) as producer:

        @ferry.task(retry=Retry(1))
        def carry(number: int, job: Job) -> int:
            runs.append(job.id)
            return number

        # It beats every second, and then gives back what came in replies that were lost.
        worker = ferry.worker({"default": 2}, Settings(lease=3.0, drain=2.0, reap_every=0.2))
        worker.start()
        handles = []
        for number in range(1, 61, 5):
            with Trial(wire, number, PLACES[number % 3]) as trial:
                handles += [producer.push("carry", n, queue="default") for n in range(5)]
                wait_until(lambda trial=trial: trial.cut, what="a cut")  # type: ignore[misc]
        jobs = [handle.wait(15) for handle in handles]
        worker.join()
    assert {(job.state, job.attempts, job.errors) for job in jobs} == {(State.COMPLETED, 1, ())}
    assert sorted(runs) == sorted(job.id for job in jobs)


def running(backend: PostgresqlBackend, trial: Trial, size: int) -> Sequence[Job]:
    """New claims in the trial's own queue."""
    backend.push([a_message(number, queue=trial.name) for number in range(size)])
    jobs = claimed(backend, trial)
    assert len(jobs) == size
    return jobs


def check_charged_once(job: Job) -> None:
    assert (job.state, job.attempts, job.fence) == (State.PENDING, 1, 1)
    assert [error.text for error in job.errors] == ["boom"]


def claimed(backend: PostgresqlBackend, trial: Trial) -> Sequence[Job]:
    return backend.poll(WORKER, {trial.name: 99}, lease=LEASE)
