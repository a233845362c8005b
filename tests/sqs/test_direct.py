"""Without a ledger: what SQS can hold by itself, at least once, and what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ferryman.errors import (
    BackendRejected,
    BackendUnavailable,
    InvalidMessage,
    OutcomeUnknown,
    Unsupported,
)
from ferryman.filter import Filter
from ferryman.job import State
from ferryman.queue.heartbeat import Beat
from ferryman.testing.conformance.given import (
    WORKER,
    a_message,
    ack,
    beat,
    call_off,
    claim,
    claims,
    fail,
    give_back,
    nack,
    pushed,
    settle,
    several,
)
from tests.servers import sqs_faults as bad
from tests.servers.kinds import BUCKET
from tests.servers.line import FOREVER

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman.queue.contract import Backend
    from tests.servers.line import Line
    from tests.servers.sqs_faults import Weather

NONE = {"waiting": 0, "flying": 0, "delayed": 0}


@pytest.fixture
def store(join: Callable[..., Backend]) -> Backend:
    return join(ledger=None)


def test_a_job_goes_through_whole(store: Backend) -> None:
    [answer] = store.push(
        [
            a_message(
                {"to": "ana ⛴ \ufffe"}, meta={"user": "1"}, timeout=9.0, max_attempts=3, priority=2
            )
        ]
    )
    job = claim(store, worker="w1", lease=60)
    assert (job.id, job.payload, job.meta) == (answer.id, {"to": "ana ⛴ \ufffe"}, {"user": "1"})
    assert (job.state, job.attempts, job.fence, job.worker) == (State.PROCESSING, 1, 1, "w1")
    assert (job.timeout, job.max_attempts, job.priority) == (9.0, 3, 2)
    assert settle(store, ack(job)).state is State.COMPLETED


def test_a_claimed_job_is_invisible_to_others_and_gone_when_acked(
    store: Backend, join: Callable[..., Backend], messages: Callable[..., dict[str, int]]
) -> None:
    pushed(store)
    job = claim(store)
    assert claims(join(ledger=None)) == []
    settle(store, ack(job))
    assert messages() == NONE


def test_a_nack_counts_as_an_attempt_and_waits(
    store: Backend, messages: Callable[..., dict[str, int]]
) -> None:
    pushed(store)
    assert settle(store, nack(claim(store), delay=0)).state is State.PENDING
    again = claim(store)
    assert (again.attempts, again.fence) == (2, 2)
    settle(store, nack(again, delay=600))
    assert claims(store) == []
    assert messages() == {**NONE, "flying": 1}


def test_a_given_back_claim_is_charged(store: Backend) -> None:
    pushed(store)
    assert settle(store, give_back(claim(store))).state is State.PENDING
    assert claim(store).attempts == 2


@pytest.mark.parametrize("how", ["fail", "last attempt"])
def test_a_failed_job_lies_among_the_failed_with_its_error(
    store: Backend, sqs: Any, project: str, how: str
) -> None:
    pushed(store, "body", max_attempts=1)
    job = claim(store)
    assert settle(store, fail(job) if how == "fail" else nack(job)).state is State.FAILED
    place = sqs.get_queue_url(QueueName=f"{project}_mail_failed")["QueueUrl"]
    [message] = sqs.receive_message(QueueUrl=place)["Messages"]
    said = json.loads(message["Body"])
    assert (said["id"], said["payload"], said["queue"]) == (job.id, "body", "mail")
    assert said["error"]["text"] in ("hopeless", "boom")
    assert claims(store) == []


def test_a_job_whose_workers_died_too_often_fails_when_it_is_met(
    store: Backend, messages: Callable[..., dict[str, int]]
) -> None:
    pushed(store, max_attempts=1)
    claim(store, lease=1)
    assert store.wait(["mail"], 20) is True
    assert claims(store) == []
    assert (messages(), messages("mail_failed")) == (NONE, {**NONE, "waiting": 1})


def test_a_job_past_its_deadline_is_dropped_when_it_is_met(
    join: Callable[..., Backend], clock: Any, messages: Callable[..., dict[str, int]]
) -> None:
    store = join(ledger=None, clock=clock)
    pushed(store, expires=10)
    clock.advance(11)
    assert claims(store) == []
    assert messages() == NONE


def test_a_cancelled_job_is_gone(store: Backend, messages: Callable[..., dict[str, int]]) -> None:
    pushed(store)
    assert settle(store, call_off(claim(store))).state is State.CANCELLED
    assert messages() == NONE


def test_children_are_sent_before_their_parent_is_gone(
    join: Callable[..., Backend], line: Line, weather: Weather
) -> None:
    store = join(ledger=None, at=line.address)
    pushed(store)
    job = claim(store)
    weather.expect(bad.unavailable, "DeleteMessageBatch", times=FOREVER)
    with pytest.raises(BackendUnavailable):
        settle(store, ack(job, children=[a_message("child", queue="pages")]))
    weather.calm()
    assert claim(store, queue="pages").payload == "child"
    assert settle(store, ack(job)).applied


def test_the_same_end_sent_twice_answers_applied(store: Backend) -> None:
    pushed(store)
    job = claim(store)
    assert settle(store, ack(job)).applied
    assert settle(store, ack(job)).applied
    assert not settle(store, nack(job)).applied


def test_two_ends_of_one_claim_in_a_batch_are_not_both_applied(store: Backend) -> None:
    pushed(store)
    job = claim(store)
    receipts = store.settle([ack(job), nack(job), ack(job)])
    assert [receipt.applied for receipt in receipts] == [True, False, True]


def test_a_batch_of_which_a_part_failed_can_be_sent_again(
    join: Callable[..., Backend], line: Line, weather: Weather
) -> None:
    store = join(ledger=None, at=line.address)
    several(store, 10)
    ends = [ack(job) for job in claims(store)]
    weather.expect(bad.done_in_part, "DeleteMessageBatch", times=4)
    with pytest.raises(BackendUnavailable):
        store.settle(ends)
    assert [receipt.applied for receipt in store.settle(ends)] == [True] * 10


def test_a_failed_payload_that_just_fits_leaves_its_story_behind(
    store: Backend, sqs: Any, project: str
) -> None:
    payload = "x" * 1_048_000
    pushed(store, payload)
    settle(store, fail(claim(store), "y" * 1_000))
    place = sqs.get_queue_url(QueueName=f"{project}_mail_failed")["QueueUrl"]
    [message] = sqs.receive_message(QueueUrl=place)["Messages"]
    assert json.loads(message["Body"])["payload"] == payload


def test_a_claim_of_another_process_cannot_be_settled(
    store: Backend, join: Callable[..., Backend]
) -> None:
    pushed(store)
    job = claim(store)
    other = join(ledger=None)
    assert not settle(other, ack(job)).applied
    assert not beat(other, job).held


def test_a_heartbeat_prolongs_the_lease(
    store: Backend, join: Callable[..., Backend], line: Line, weather: Weather
) -> None:
    watched = join(ledger=None, at=line.address)
    several(store, 12)
    jobs = claims(watched, 12, lease=1)
    pulses = watched.heartbeat(WORKER, [Beat(job.id, job.fence) for job in jobs], lease=60)
    assert [pulse.held for pulse in pulses] == [True] * 12
    assert weather.calls["ChangeMessageVisibilityBatch"] == 2
    assert store.wait(["mail"], 2) is False


def test_a_heartbeat_tells_where_the_message_was_handed_on(store: Backend, sqs: Any) -> None:
    pushed(store)
    job = claim(store)
    settle(store, nack(job, delay=0))
    assert not beat(store, job).held


def test_a_claim_is_not_lost_where_only_leave_is_missing(
    join: Callable[..., Backend], line: Line, weather: Weather
) -> None:
    store = join(ledger=None, at=line.address)
    pushed(store)
    job = claim(store)
    weather.expect(bad.denied, "ChangeMessageVisibilityBatch")
    with pytest.raises(BackendRejected, match="access is denied"):
        beat(store, job)
    weather.expect(bad.denied, "DeleteMessageBatch")
    with pytest.raises(BackendRejected, match="access is denied"):
        settle(store, ack(job))
    assert settle(store, ack(job)).applied


def test_a_message_that_was_handed_on_is_a_lost_lease(
    store: Backend, join: Callable[..., Backend]
) -> None:
    pushed(store)
    late = claim(store, lease=1)
    other = join(ledger=None)
    assert other.wait(["mail"], 20) is True
    assert settle(other, ack(claim(other))).applied
    assert not beat(store, late).held
    assert not settle(store, ack(late)).applied


def test_claims_of_a_lost_answer_are_given_back(
    store: Backend, messages: Callable[..., dict[str, int]]
) -> None:
    pushed(store)
    claims(store, turn=3)
    store.heartbeat(WORKER, [], lease=60, answered=3)
    assert messages() == {**NONE, "waiting": 1}


def test_tasks_to_skip_come_back_later_and_are_not_charged(
    join: Callable[..., Backend],
    line: Line,
    weather: Weather,
    messages: Callable[..., dict[str, int]],
) -> None:
    store = join(at=line.address, ledger=None)
    pushed(store, task="archive", max_attempts=2)
    settle(store, nack(claim(store), delay=0))
    weather.expect(bad.soon, "SendMessageBatch")
    assert list(store.poll("w1", {"mail": 1}, lease=60, skip_tasks=["archive"])) == []
    assert messages() == {**NONE, "delayed": 1}
    assert store.wait(["mail"], 20) is True
    job = claim(store)
    assert (job.attempts, settle(store, nack(job)).state) == (2, State.FAILED)


def test_urgent_messages_come_first(store: Backend) -> None:
    for priority in (-5, 0, 5):
        pushed(store, priority, priority=priority)
    assert [claim(store).payload for _ in range(3)] == [5, 0, -5]


def test_a_message_that_comes_wakes_whoever_waits(
    store: Backend, join: Callable[..., Backend]
) -> None:
    assert store.wait(["mail"], 0.05) is False
    job_id = pushed(join(ledger=None))
    assert store.wait(["mail"], 10) is True
    assert claim(store).id == job_id


def test_counts_are_those_of_sqs(store: Backend) -> None:
    several(store, 3)
    pushed(store, delay=60)
    claims(store, 1)
    counts = store.snapshot().queues["mail"]
    assert (counts.states[State.PENDING], counts.scheduled) == (3, 1)
    assert counts.states[State.PROCESSING] == 1


def test_a_purge_empties_the_queue(store: Backend, messages: Callable[..., dict[str, int]]) -> None:
    several(store, 3)
    assert store.purge("mail") == 3
    assert messages()["waiting"] == 0


@pytest.mark.parametrize("lost", [1, 6])
def test_a_push_of_which_a_part_was_not_sent_says_so(
    join: Callable[..., Backend], line: Line, weather: Weather, lost: int
) -> None:
    store = join(ledger=None, at=line.address)
    weather.expect(bad.done_in_part, "SendMessageBatch", times=lost)
    if lost == 1:
        several(store, 10)
        assert len(claims(store)) == 10
        return
    with pytest.raises(OutcomeUnknown, match="of 10 messages were not sent"):
        several(store, 10)


@pytest.mark.parametrize(
    "options",
    [{"key": "ana"}, {"replace": True}, {"delay": 901}, {"ready_at": 9e10}],
    ids=lambda options: next(iter(options)),
)
def test_what_needs_a_ledger_is_refused_with_the_way_out(
    store: Backend, options: dict[str, Any], messages: Callable[..., dict[str, int]]
) -> None:
    with pytest.raises(Unsupported, match=r"sqs without a ledger: .* add ledger="):
        store.push([a_message(), a_message(**options)])
    pushed(store)
    assert messages()["waiting"] == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda store: store.get("x"),
        lambda store: store.list(Filter()),
        lambda store: store.cancel(["x"]),
        lambda store: store.pause(["x"]),
        lambda store: store.resume(["x"]),
        lambda store: store.retry(["x"]),
        lambda store: store.delete(["x"]),
        lambda store: store.restore([]),
        lambda store: store.pause_queue("mail"),
        lambda store: store.resume_queue("mail"),
        lambda store: store.read_cells(""),
        lambda store: store.write_cell("k", "v", expect=0),
        lambda store: store.push([a_message()], connection=object()),
    ],
)
def test_verbs_that_need_a_record_are_refused(
    store: Backend, call: Callable[[Backend], object]
) -> None:
    with pytest.raises(Unsupported, match="sqs without a ledger"):
        call(store)


def test_its_capabilities_say_what_is_missing(store: Backend) -> None:
    able = store.capabilities
    assert (able.fenced, able.browse, able.cells, able.exact_counts) == (False,) * 4
    assert (able.max_delay, able.order, able.transactional_push) == (900, "by label", False)
    [finding] = store.diagnose()  # type: ignore[attr-defined]
    assert "at least once" in finding.what


def test_a_body_over_the_limit_goes_to_s3_and_back_and_is_forgotten(
    join: Callable[..., Backend], project: str, messages: Callable[..., dict[str, int]]
) -> None:
    store = join(ledger=None, bodies=f"s3://{BUCKET}/{project}")
    payload = "é" * (5 << 19)
    pushed(store, payload)
    job = claim(store)
    assert job.payload == payload
    bodies = store._bodies._client.get()  # type: ignore[attr-defined]
    listed = bodies.list_objects_v2(Bucket=BUCKET, Prefix=f"{project}/")
    assert listed["KeyCount"] == 1
    settle(store, ack(job))
    assert bodies.list_objects_v2(Bucket=BUCKET, Prefix=f"{project}/")["KeyCount"] == 0
    assert messages() == NONE


def test_without_a_place_for_it_a_body_over_the_limit_is_refused(store: Backend) -> None:
    with pytest.raises(InvalidMessage, match="SQS takes 1,048,576: add bodies="):
        pushed(store, "é" * 400_000)


def test_bare_json_of_another_program_is_a_job(
    join: Callable[..., Backend], sqs: Any, project: str
) -> None:
    store = join(ledger=None, bare="enrich")
    claims(store)
    place = sqs.get_queue_url(QueueName=f"{project}_mail")["QueueUrl"]
    sqs.send_message(QueueUrl=place, MessageBody='{"domain": "example.org"}')
    job = claim(store)
    assert (job.task, job.payload) == ("enrich", {"domain": "example.org"})
    assert settle(store, ack(job)).applied


@pytest.mark.parametrize(
    "text",
    [
        "{broken",
        "[1, 2]",
        '{"ferryman": "message"}',
        '{"ferryman":"message","id":"a","task":"b","priority":"high","version":1,'
        '"max_attempts":5,"created_at":1,"ready_at":1}',
    ],
)
def test_a_message_that_nobody_can_use_is_shown_and_left(
    store: Backend, sqs: Any, project: str, messages: Callable[..., dict[str, int]], text: str
) -> None:
    claims(store)
    place = sqs.get_queue_url(QueueName=f"{project}_mail")["QueueUrl"]
    sqs.send_message(QueueUrl=place, MessageBody=text)
    assert claims(store) == []
    [trouble] = store.troubles()  # type: ignore[attr-defined]
    assert (trouble.queue, messages()) == ("mail", {**NONE, "flying": 1})


def test_a_message_seen_twice_at_once_is_claimed_once_here(
    join: Callable[..., Backend], line: Line, weather: Weather
) -> None:
    store = join(ledger=None, at=line.address)
    pushed(store)
    weather.expect(bad.sent_twice, "SendMessageBatch")
    pushed(store, "twice")
    found = [job.payload for job in claims(store)]
    assert sorted(map(str, found)) == ["None", "twice"]
