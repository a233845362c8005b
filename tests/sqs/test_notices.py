"""With a ledger: what a message is for, and what becomes of it."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from ferryman.job import State
from ferryman.queue.open import open_backend
from ferryman.testing import wait_until
from ferryman.testing.conformance.given import (
    a_message,
    ack,
    claim,
    claims,
    give_back,
    nack,
    pushed,
    settle,
    several,
    state_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman.queue.contract import Backend
    from ferryman.testing.clock import FakeClock

Count = "Callable[..., dict[str, int]]"
NONE = {"waiting": 0, "flying": 0, "delayed": 0}


@pytest.fixture
def store(join: Callable[..., Backend]) -> Backend:
    """Two processes in one: it has asked the ledger a moment ago, so that SQS must tell it."""
    store = join()
    claims(store)
    return store


def test_a_push_sends_a_notice_and_a_claim_deletes_it(
    store: Backend, messages: Callable[..., dict[str, int]]
) -> None:
    ids = several(store, 12)
    wait_until(lambda: messages() == {**NONE, "waiting": 12})
    assert {job.id for job in claims(store)} == set(ids)
    wait_until(lambda: messages() == NONE)


def test_a_job_pushed_elsewhere_is_claimed_by_its_notice(
    store: Backend, join: Callable[..., Backend]
) -> None:
    job_id = pushed(join())
    assert claim(store).id == job_id


def test_a_job_without_a_notice_is_found_by_looking(
    join: Callable[..., Backend], ledger: str, clock: FakeClock
) -> None:
    store, unaware = join(clock=clock), open_backend(ledger, clock)
    assert claims(store) == []
    job_id = pushed(unaware)
    unaware.close()
    assert claims(store) == []
    clock.advance(5)
    assert claim(store).id == job_id


def test_a_job_without_a_notice_wakes_whoever_waits(
    join: Callable[..., Backend], ledger: str
) -> None:
    store, unaware = join(look=0.2), open_backend(ledger)
    assert claims(store) == []
    job_id = pushed(unaware)
    unaware.close()
    assert store.wait(["mail"], 10) is True
    assert claim(store).id == job_id


@pytest.mark.parametrize("act", ["cancel", "pause", "delete"])
def test_the_notice_of_a_job_that_is_not_pending_is_dropped_when_met(
    store: Backend, messages: Callable[..., dict[str, int]], act: str
) -> None:
    getattr(store, act)([pushed(store)])
    wait_until(lambda: messages() == {**NONE, "waiting": 1})
    assert claims(store) == []
    wait_until(lambda: messages() == NONE)


def test_a_resumed_job_has_a_notice_again(
    store: Backend, messages: Callable[..., dict[str, int]]
) -> None:
    job_id = pushed(store)
    store.pause([job_id])
    claims(store)
    store.resume([job_id])
    wait_until(lambda: messages() == {**NONE, "waiting": 1})
    assert claim(store).id == job_id


def test_a_job_that_is_given_back_or_fails_once_has_a_notice_again(
    store: Backend, messages: Callable[..., dict[str, int]]
) -> None:
    several(store, 2)
    one, other = claims(store)
    settle(store, give_back(one))
    settle(store, nack(other, delay=40))
    wait_until(lambda: messages() == {**NONE, "waiting": 1, "delayed": 1})


def test_children_have_notices_of_their_own(
    store: Backend, messages: Callable[..., dict[str, int]]
) -> None:
    pushed(store)
    settle(store, ack(claim(store), children=[a_message(n, queue="pages") for n in range(3)]))
    wait_until(lambda: messages("pages") == {**NONE, "waiting": 3})


def test_a_retried_and_a_reaped_job_have_notices_again(
    join: Callable[..., Backend], clock: FakeClock, messages: Callable[..., dict[str, int]]
) -> None:
    store = join(clock=clock)
    claims(store)
    several(store, 2, backoff="0.0,2.0,0.0,0.0")
    one, _ = claims(store, 2)
    settle(store, ack(one))
    store.retry([one.id])
    clock.advance(61)
    assert len(store.reap()) == 1
    wait_until(lambda: messages() == {**NONE, "waiting": 2})


def test_a_delay_is_left_to_sqs_as_far_as_it_can_count(
    store: Backend, messages: Callable[..., dict[str, int]]
) -> None:
    pushed(store, delay=100)
    pushed(store, delay=100_000)
    wait_until(lambda: messages() == {**NONE, "delayed": 2})


def test_a_long_delay_takes_its_hops_and_is_never_early(
    join: Callable[..., Backend], weather: Any, line: Any
) -> None:
    # No agenda and no look: another process, so that only the messages can tell.
    elsewhere, store = join(hop=1), join(at=line.address, hop=1, look=3_600)
    claims(store)
    before = time.time()
    pushed(elsewhere, delay=3.5)
    found = False
    while not found:
        assert store.wait(["mail"], 20) is True
        found = bool(claims(store))
        assert not found or time.time() >= before + 3.5
    assert weather.calls["SendMessageBatch"] >= 2


def test_priorities_have_queues_of_their_own(store: Backend, sqs: Any, project: str) -> None:
    for priority in (-10, 0, 10, 3):
        pushed(store, priority, priority=priority)
    assert [job.payload for job in claims(store, 3)] == [10, 3, 0]
    assert [job.payload for job in claims(store)] == [-10]
    names = [
        place.rpartition("_")[2] for place in sqs.list_queues(QueueNamePrefix=project)["QueueUrls"]
    ]
    assert sorted(names) == ["high", "low", "mail"]


def test_a_low_priority_does_not_wait_for_ever(
    join: Callable[..., Backend], clock: FakeClock
) -> None:
    store = join(clock=clock, look=3_600)
    claims(store)
    several(store, 30, priority=10)
    low = pushed(store, priority=-10)
    found = claims(store, 1)
    while low not in {job.id for job in found} and len(found) < 30:
        clock.advance(4)
        found += claims(store, 1)
    assert low in {job.id for job in found}


def test_tasks_to_skip_keep_their_notices(store: Backend) -> None:
    several(store, 25, task="archive")
    last = pushed(store, task="send")
    [job] = store.poll("w1", {"mail": 1}, lease=60, skip_tasks=["archive"])
    assert job.id == last
    assert len(claims(store)) == 25


def test_a_large_body_stays_in_the_ledger(store: Backend) -> None:
    payload = "x" * (5 << 20)
    pushed(store, payload)
    assert claim(store).payload == payload


def test_a_job_moved_to_another_queue_is_not_claimed_from_the_first(store: Backend) -> None:
    job_id = pushed(store, "old", id="one")
    [answer] = store.push([a_message("new", id="one", queue="post", replace=True)])
    assert (answer.id, answer.status) == (job_id, "replaced")
    assert claims(store) == []
    assert [job.payload for job in claims(store, queue="post")] == ["new"]


def test_bare_json_of_another_program_becomes_a_job_once(
    join: Callable[..., Backend], sqs: Any, project: str
) -> None:
    store = join(bare="enrich")
    claims(store)
    place = sqs.get_queue_url(QueueName=f"{project}_mail")["QueueUrl"]
    sqs.send_message(QueueUrl=place, MessageBody=json.dumps({"domain": "example.org"}))
    job = claim(store)
    assert (job.task, job.payload) == ("enrich", {"domain": "example.org"})
    assert settle(store, ack(job)).state is State.COMPLETED
    assert state_of(store, job.id) is State.COMPLETED


@pytest.mark.parametrize("text", ["{broken", '{"plain": "json"}'])
def test_a_message_that_nobody_can_use_is_shown_and_left(
    join: Callable[..., Backend],
    sqs: Any,
    project: str,
    messages: Callable[..., dict[str, int]],
    text: str,
) -> None:
    store = join(bare="enrich" if "broken" in text else None)
    claims(store)
    place = sqs.get_queue_url(QueueName=f"{project}_mail")["QueueUrl"]
    sqs.send_message(QueueUrl=place, MessageBody=text)
    job_id = pushed(store)
    assert [job.id for job in claims(store)] == [job_id]
    [trouble] = store.troubles()  # type: ignore[attr-defined]
    assert trouble.queue == "mail"
    wait_until(lambda: messages() == {**NONE, "flying": 1})


def test_what_lies_here_unclaimed_is_given_back_at_the_end(
    store: Backend, messages: Callable[..., dict[str, int]]
) -> None:
    pushed(store)
    store.poll("w1", {"mail": 1}, lease=60, skip_tasks=["send"])
    wait_until(lambda: messages() == {**NONE, "flying": 1})
    store.close()
    wait_until(lambda: messages() == {**NONE, "waiting": 1})


def test_what_polls_have_passed_over_is_no_news_to_whoever_waits(store: Backend) -> None:
    pushed(store, task="archive")
    told = []
    for _ in range(6):
        told.append(store.wait(["mail"], 0.05))
        assert list(store.poll("w1", {"mail": 1}, lease=60, skip_tasks=["archive"])) == []
    assert told == [True, True, False, False, False, False]
