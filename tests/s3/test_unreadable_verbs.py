"""What each verb answers about a job whose object nobody can read; strict, where verbs read it."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, Final

import pytest

from ferryman.backends.s3.bucket import Bucket
from ferryman.backends.s3.home import Home
from ferryman.backends.s3.location import Location
from ferryman.errors import BackendRejected
from ferryman.job import State
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.heartbeat import Beat
from ferryman.queue.settlement import Settlement
from ferryman.testing.clock import FakeClock
from tests.s3.nodes import LEASE, ack, node, poll, push
from tests.s3.simulated import SimulatedCalls
from tests.servers.kinds import BUCKET

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ferryman.backends.s3.strict import StrictBackend

    Join = Callable[[str], StrictBackend]

PREFIX: Final = "team"
HOME: Final = Home(Location(BUCKET, PREFIX))
TORN: Final = b'{"task": "se'
TASK: Final = HOME.task("mail", "bad")
RECORD: Final = HOME.record("mail", State.COMPLETED, "bad")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(time.time())


@pytest.fixture
def calls() -> SimulatedCalls:
    return SimulatedCalls()


@pytest.fixture
def raw(calls: SimulatedCalls) -> Bucket:
    """The bucket of the nodes, by hand."""
    return Bucket(BUCKET, calls=calls)


@pytest.fixture
def join(calls: SimulatedCalls, clock: FakeClock, tmp_path: Path) -> Iterator[Join]:
    opened: list[StrictBackend] = []

    def join_as(name: str) -> StrictBackend:
        bucket = Bucket(BUCKET, calls=calls)
        opened.append(node("http://simulated", PREFIX, tmp_path / name, clock, bucket))
        return opened[-1]

    yield join_as
    for store in opened:
        store.close()


def message(job_id: str, **options: Any) -> Message:
    return Message.of("mail", "send", "body", id=job_id, **options)


@pytest.mark.parametrize("key", [TASK, RECORD])
def test_get_names_the_object_and_the_way_out(join: Join, raw: Bucket, key: str) -> None:
    store = join("one")
    push(store, "good")
    raw.put(key, TORN)
    with pytest.raises(BackendRejected, match=r"correct the object, or delete it") as refused:
        store.get("bad")
    assert f"s3://{BUCKET}/{key}" in str(refused.value)
    assert store.get("good") is not None


def test_get_still_tells_how_a_job_ended(join: Join, raw: Bucket) -> None:
    store = join("one")
    push(store, "bad")
    assert ack(store, poll(store)[0])
    raw.put(TASK, TORN)
    found = store.get("bad")
    assert found is not None
    assert found.state is State.COMPLETED


def test_get_finds_the_job_in_another_queue(join: Join, raw: Bucket) -> None:
    store = join("one")
    push(store, "good")
    store.push([Message.of("post", "send", "body", id="bad")])
    raw.put(TASK, TORN)
    found = store.get("bad")
    assert found is not None
    assert found.queue == "post"


@pytest.mark.parametrize("key", [TASK, RECORD])
@pytest.mark.parametrize("options", [{}, {"replace": True}, {"key": "k"}])
def test_push_names_the_object_and_takes_the_other_messages(
    join: Join, raw: Bucket, key: str, options: dict[str, Any]
) -> None:
    store = join("one")
    push(store, "good")
    raw.put(key, TORN)
    batch = [message("a"), message("bad", **options), message("b", key="other")]
    with pytest.raises(BackendRejected, match=key):
        store.push(batch)
    assert {job.id for job in poll(store)} == {"good", "a", "b"}
    raw.delete(key)
    store.push(batch)
    assert [job.id for job in poll(store)] == ["bad"]


@pytest.mark.parametrize("verb", ["cancel", "pause", "resume", "retry", "delete"])
@pytest.mark.parametrize("key", [TASK, RECORD])
def test_operators_are_refused_for_this_job_alone(
    join: Join, raw: Bucket, verb: str, key: str
) -> None:
    store = join("one")
    push(store, "good")
    raw.put(key, TORN)
    bad, good = getattr(store, verb)(["bad", "good"])
    assert key in bad.refused
    assert "correct the object, or delete it" in bad.refused
    assert good.refused is None or "bad" not in good.refused


def test_purge_deletes_the_jobs_that_can_be_read(join: Join, raw: Bucket) -> None:
    store = join("one")
    push(store, "good")
    raw.put(TASK, TORN)
    assert store.purge("mail") == 1
    assert store.get("good") is None


def test_a_job_whose_task_was_torn_while_it_ran_ends_all_the_same(join: Join, raw: Bucket) -> None:
    store = join("one")
    push(store, "bad")
    [job] = poll(store)
    raw.put(TASK, TORN)
    store.sync()
    assert store.heartbeat("w", [Beat("bad", job.fence)], lease=LEASE)[0].held
    assert ack(store, job)
    assert ack(store, job)
    found = store.get("bad")
    assert found is not None
    assert found.state is State.COMPLETED
    store.sync()
    assert poll(store) == []


def test_a_claim_that_was_lost_with_its_task_is_lost_and_no_other(
    join: Join, raw: Bucket, clock: FakeClock
) -> None:
    one, other = join("one"), join("other")
    push(one, "good")
    push(one, "bad")
    jobs = {job.id: job for job in poll(one)}
    clock.advance(LEASE / 2)
    assert one.heartbeat("w", [Beat("good", jobs["good"].fence)], lease=LEASE)[0].held
    clock.advance(LEASE / 2 + 1)
    other.sync()
    assert [reaped.id for reaped in other.reap()] == ["bad"]
    raw.put(TASK, TORN)
    pulses = one.heartbeat("w", [Beat(j.id, j.fence) for j in jobs.values()], lease=LEASE)
    assert {pulse.job_id: pulse.held for pulse in pulses} == {"good": True, "bad": False}
    settled = [Settlement.of(job, Verdict.ACK) for job in jobs.values()]
    receipts = one.settle(settled)
    assert {each.job_id: each.applied for each in receipts} == {"good": True, "bad": False}


def test_poll_passes_over_a_candidate_that_can_no_longer_be_read(
    join: Join, raw: Bucket, clock: FakeClock
) -> None:
    one, other = join("one"), join("other")
    for job_id in ("bad", "good"):
        push(one, job_id)
    other.sync()
    [claimed] = [job for job in poll(one) if job.id == "bad"]
    one.settle([Settlement.of(claimed, Verdict.NACK, delay=0.0)])
    raw.put(TASK, TORN)
    push(one, "late")
    assert "bad" not in {job.id for job in poll(other)}
    clock.advance(LEASE + 1)
    assert {reaped.id for reaped in other.reap()} >= {"good"}


def test_reap_passes_over_a_lease_whose_task_can_no_longer_be_read(
    join: Join, raw: Bucket, clock: FakeClock
) -> None:
    one, other = join("one"), join("other")
    for job_id in ("bad", "good"):
        push(one, job_id)
    jobs = {job.id: job for job in poll(one)}
    other.sync()
    clock.advance(1)
    assert one.heartbeat("w", [Beat("bad", jobs["bad"].fence)], lease=LEASE)[0].held
    raw.put(TASK, TORN)
    clock.advance(LEASE + 1)
    assert "good" in {reaped.id for reaped in other.reap()}


def test_a_child_that_can_no_longer_be_read_was_handed_over(join: Join, raw: Bucket) -> None:
    store = join("one")
    push(store, "parent")
    [job] = poll(store)
    raw.put(TASK, TORN)
    children = (message("bad"), message("child"))
    receipts = store.settle([Settlement.of(job, Verdict.ACK, children=children)])
    assert [receipt.applied for receipt in receipts] == [True]
    assert [job.id for job in poll(store)] == ["child"]
    record = raw.get(HOME.record("mail", State.COMPLETED, "parent"))
    assert record is not None
    assert json.loads(record.body)["handed_off"]


def test_a_key_that_nobody_can_read_keeps_its_child_back_and_no_other_job(
    join: Join, raw: Bucket, clock: FakeClock
) -> None:
    store = join("one")
    push(store, "parent")
    [job] = poll(store)
    place = HOME.key("mail", "k")
    raw.put(place, TORN)
    with pytest.raises(BackendRejected, match=place):
        push(store, "rival", key="k")
    children = (message("child", key="k"),)
    assert store.settle([Settlement.of(job, Verdict.ACK, children=children)])[0].applied
    push(store, "good")
    assert [each.id for each in poll(store)] == ["good"]
    clock.advance(20)
    assert place in str(store.sync()["unreadable"])
    raw.delete(place)
    store.sync()
    assert [each.id for each in poll(store)] == ["child"]


def test_a_job_that_cannot_be_read_holds_no_key(join: Join, raw: Bucket) -> None:
    store = join("one")
    assert push(store, "bad", key="k") == "created"
    raw.put(TASK, TORN)
    assert push(store, "good", key="k") == "created"


@pytest.mark.parametrize(
    "facts",
    [
        {"worker_id": 5},
        {"expires_at": "soon"},
        {"expires_at": 1e18},
        {"seq": "x"},
        {"task_etag": 5},
        {"change": "x"},
        {"replaced": 5},
        {"state": "done"},
        {"state": "done", "record": {"task": 7}},
        {"state": "gone", "records": [5]},
        {"state": "gone", "moved": {"queue": 5, "task": "{}"}},
    ],
)
def test_a_lease_with_a_field_of_another_type_counts_by_its_age(
    join: Join, raw: Bucket, clock: FakeClock, facts: dict[str, Any]
) -> None:
    store = join("one")
    push(store, "good")
    push(store, "bad")
    [job] = [job for job in poll(store) if job.id == "bad"]
    place = HOME.lease("mail", "bad")
    found = raw.get(place)
    assert found is not None
    raw.put(place, json.dumps(json.loads(found.body) | facts).encode())
    store.sync()
    clock.advance(LEASE + 2)
    assert {reaped.id for reaped in store.reap()} == {"good", "bad"}
    clock.advance(10)
    [again] = [each for each in poll(store) if each.id == "bad"]
    assert again.fence > job.fence
    assert ack(store, again)
