"""SQS on its bad days: with a ledger each job is completed once, whatever it does."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import pytest

from ferryman.errors import BackendRejected, BackendUnavailable
from ferryman.job import State
from ferryman.retry import Backoff
from ferryman.testing.conformance.crowd import together
from ferryman.testing.conformance.given import (
    a_message,
    ack,
    claim,
    claims,
    pushed,
    settle,
    several,
    state_of,
)
from tests.servers import sqs_faults as bad
from tests.servers.faults import cut_before
from tests.servers.line import FOREVER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ferryman.queue.contract import Backend
    from ferryman.testing.clock import FakeClock
    from tests.servers.line import Line
    from tests.servers.sqs_faults import Misfortune, Request, Weather

pytestmark = pytest.mark.thorough


@pytest.fixture
def store(join: Callable[..., Backend], line: Line, weather: Weather) -> Backend:
    """It has asked the ledger a moment ago, and relies on messages for the next hour."""
    store = join(at=line.address, look=3_600)
    claims(store)
    return store


def drained(store: Backend, worker: str = "w1") -> Iterator[tuple[str, int]]:
    """Work until nothing comes any more; the id and the fence of every claim that was completed.

    One by one, so that a poll that fails takes nothing away of what was completed before it.
    """
    while jobs := claims(store, 7, worker=worker):
        receipts = store.settle([ack(job) for job in jobs])
        for job, end in zip(jobs, receipts, strict=True):
            if end.applied:
                yield job.id, job.fence


@pytest.mark.parametrize(
    "misfortune",
    [bad.sent_twice, bad.seen_twice, bad.shuffled, bad.back_after_delete, bad.done_in_part],
)
def test_whatever_sqs_does_each_job_is_completed_once(
    store: Backend, weather: Weather, misfortune: Misfortune
) -> None:
    weather.expect(misfortune, times=6)
    ids = several(store, 40)
    done = list(drained(store))
    assert sorted(done) == sorted((job_id, 1) for job_id in ids)
    assert store.snapshot().count(State.COMPLETED) == 40
    assert weather.met


def test_in_a_storm_workers_complete_each_job_once(
    store: Backend, join: Callable[..., Backend], line: Line, weather: Weather
) -> None:
    every = [
        bad.sent_twice,
        bad.seen_twice,
        bad.shuffled,
        bad.back_after_delete,
        bad.done_in_part,
        bad.throttled,
        bad.unavailable,
    ]
    crew = [store, *(join(at=line.address) for _ in range(2))]
    weather.storm(every, chance=0.4)
    ids: list[str] = []
    completed: list[str] = []
    while len(weather.met) < 5:
        ids += [
            answer.id for _ in range(6) for answer in store.push([a_message() for _ in range(20)])
        ]
        completed += worked_off(crew, len(ids))
        assert len(ids) < 2_400, f"after 20 rounds the storm had only {weather.met}"
    assert sorted(completed) == sorted(ids)


def worked_off(crew: list[Backend], total: int) -> list[str]:
    """All of the crew work until ``total`` jobs are completed; what each of them completed."""

    def work(number: int) -> list[str]:
        done: list[str] = []
        while crew[0].snapshot().count(State.COMPLETED) < total:
            with suppress(BackendUnavailable):
                for job_id, _ in drained(crew[number], f"w{number}"):
                    done.append(job_id)
                crew[number].wait(["mail"], 0.2)
        return done

    found = together(*(lambda number=number: work(number) for number in range(len(crew))))
    return [job_id for done in found for job_id in done]


def test_an_entry_that_failed_is_sent_again_and_the_others_are_not(
    store: Backend, weather: Weather, messages: Callable[..., dict[str, int]]
) -> None:
    weather.expect(bad.done_in_part, "SendMessageBatch")
    several(store, 10)
    assert messages()["waiting"] == 10
    assert weather.calls["SendMessageBatch"] == 2


def test_a_notice_that_cannot_be_sent_does_not_lose_the_job(
    store: Backend, weather: Weather, caplog: pytest.LogCaptureFixture
) -> None:
    pushed(store, "opens the way")
    claims(store)
    weather.expect(bad.throttled, "SendMessageBatch", times=FOREVER)
    job_id = pushed(store)
    assert "1 of 1 notices were not sent" in caplog.text
    assert claim(store).id == job_id


def test_a_deletion_that_fails_is_made_good_by_the_ledger(store: Backend, weather: Weather) -> None:
    job_id = pushed(store)
    weather.expect(bad.denied, "DeleteMessageBatch")
    assert settle(store, ack(claim(store))).state is State.COMPLETED
    assert state_of(store, job_id) is State.COMPLETED
    assert claims(store) == []


def test_without_sqs_a_poll_is_no_empty_queue(store: Backend, line: Line) -> None:
    pushed(store)
    line.calm()
    line.fault(cut_before, times=FOREVER)
    with pytest.raises(BackendUnavailable, match="ReceiveMessage"):
        claims(store)
    line.calm()
    assert len(claims(store)) == 1


def test_without_sqs_what_the_ledger_gave_is_not_lost(
    join: Callable[..., Backend], line: Line
) -> None:
    store = join(at=line.address)
    job_id = pushed(store)
    line.fault(cut_before, times=FOREVER)
    assert claim(store).id == job_id
    with pytest.raises(BackendUnavailable):
        claims(store)


def test_without_sqs_jobs_are_accepted_run_on_and_found_later(store: Backend, line: Line) -> None:
    pushed(store)
    job = claim(store)
    line.calm()
    line.fault(cut_before, times=FOREVER)
    later = pushed(store)
    assert store.heartbeat("w1", [], lease=60) == []
    assert settle(store, ack(job)).state is State.COMPLETED
    line.calm()
    assert claim(store).id == later


def test_a_lost_answer_to_a_claim_leaves_nothing_hidden(
    join: Callable[..., Backend], memory_folder: Path
) -> None:
    database = memory_folder / "ledger.db"
    store = join(ledger=f"sqlite:///{database}?busy_timeout=0.05", look=3_600)
    claims(store)
    job_id = pushed(store)
    with closing(sqlite3.connect(database)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BackendUnavailable):
            claims(store)
    assert claim(store).id == job_id


@pytest.mark.parametrize("kept", ["ledger", "alone"])
def test_what_was_received_before_a_request_failed_is_claimed_next_time(
    join: Callable[..., Backend], line: Line, weather: Weather, kept: str
) -> None:
    options = {"ledger": None} if kept == "alone" else {"look": 3_600}
    store = join(at=line.address, **options)
    claims(store)
    job_id = pushed(store, priority=10)
    weather.expect(lambda request: request.answer(request.forward()), "ReceiveMessage")
    weather.expect(bad.denied, "ReceiveMessage")
    with pytest.raises(BackendRejected):
        claims(store)
    assert claim(store).id == job_id


def test_of_two_claims_within_one_poll_the_later_one_counts(
    join: Callable[..., Backend], line: Line, weather: Weather, clock: FakeClock
) -> None:
    store, other = (join(at=line.address, clock=clock, look=3_600) for _ in range(2))
    claims(store)
    job_id, gone = pushed(store, backoff=Backoff(base=0, cap=0).text()), pushed(store)
    store.cancel([gone])

    def long_pause(request: Request) -> None:
        """The lease of the first claim ends before the second round of the poll is answered."""
        clock.advance(61)
        assert [one.id for one in other.reap()] == [job_id]
        request.answer(request.forward())

    weather.expect(lambda request: request.answer(request.forward()), "ReceiveMessage")
    weather.expect(long_pause, "ReceiveMessage")
    [job] = store.poll("w1", {"mail": 2}, lease=60)
    assert (job.id, job.fence) == (job_id, 2)


@pytest.mark.parametrize(
    ("misfortune", "kind", "says"),
    [
        (bad.throttled, BackendUnavailable, "fewer requests"),
        (bad.token_expired, BackendUnavailable, "renew the credentials"),
        (bad.unavailable, BackendUnavailable, "not available"),
        (bad.denied, BackendRejected, "access is denied"),
    ],
)
def test_what_sqs_refuses_is_named(
    store: Backend, weather: Weather, misfortune: Misfortune, kind: type[Exception], says: str
) -> None:
    weather.expect(misfortune, "ReceiveMessage", times=FOREVER)
    with pytest.raises(kind, match=says) as refused:
        claims(store)
    assert type(refused.value) is kind


def test_a_queue_that_is_missing_is_named_before_anything_is_written(
    join: Callable[..., Backend], project: str
) -> None:
    store = join(create=0)
    with pytest.raises(BackendRejected, match=f"{project}_mail in eu-west-1: make it with"):
        store.push([a_message(id="refused")])
    assert store.get("refused") is None
    with pytest.raises(BackendRejected, match="no SQS queue"):
        claims(store)
