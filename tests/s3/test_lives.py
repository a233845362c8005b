"""An id may live several times, and several machines may know several of its lives."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

import pytest

from ferryman.backends.s3 import entry
from ferryman.backends.s3.finish import GRACE
from ferryman.errors import BackendUnavailable, OutcomeUnknown
from ferryman.filter import Filter
from ferryman.job import State
from ferryman.message import Message
from ferryman.queue.capacity import Limit
from ferryman.queue.heartbeat import Beat
from ferryman.testing.waiting import wait_until
from tests.s3.nodes import LEASE, HookedBucket, ack, fail, poll, push

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ferryman.backends.s3.strict import StrictBackend
    from ferryman.queue.answers import Acted
    from ferryman.testing.clock import FakeClock
    from tests.s3.simulated import SimulatedCalls

HOUR = 3_600.0
DAY = 86_400.0
RECORD = "prefix/mail/failed/job.json"
HOLD = "prefix/mail/pending/job/lease.json"


class Killed(BaseException):
    """The process is dead."""


def states(store: StrictBackend) -> list[State]:
    return [job.state for job in store.list(Filter()).jobs]


def an_hour_later(store: StrictBackend, clock: FakeClock) -> None:
    """The machine's own clock, which no test can move, says that its passes are due."""
    clock.advance(HOUR)
    stamp = store._node.sync._stamp
    stamp._synced = stamp._listed = float("-inf")
    store._node.store.disk.unlink(stamp._path)


def test_a_prune_by_an_old_tree_leaves_the_tombstone_of_a_later_end(
    open_node: Callable[..., StrictBackend], clock: FakeClock
) -> None:
    one, two, three = open_node("one"), open_node("two"), open_node("three")
    push(one)
    fail(one)
    clock.advance(2 * DAY)
    for node in (one, two, three):
        node.sync()
    two.retry(["job"])
    three.sync()
    [job] = poll(two)
    assert ack(two, job)
    assert one.prune(older_than=DAY) == 0
    assert poll(three) == [], "it has ended"
    assert two.get("job").state is State.COMPLETED  # type: ignore[union-attr]


def test_a_tombstone_is_as_old_as_its_delete_although_the_id_lives_again(
    open_node: Callable[..., StrictBackend], calls: SimulatedCalls
) -> None:
    one, two, three = open_node("one", kind=HookedBucket), open_node("two"), open_node("three")
    push(two)
    three.sync()
    two.delete(["job"])
    bucket = one._node.bucket
    assert isinstance(bucket, HookedBucket)
    bucket.before = ("get", HOLD)
    bucket.happens = lambda: two.push([Message.of("mail", "send", "anew", id="job")])
    one.sync()
    assert HOLD in calls.objects
    ran = [job.payload for node in (three, two) for job in poll(node)]
    assert ran == ["anew"], "what was deleted does not run, and nothing runs twice"


@pytest.mark.parametrize("how", ["delete", "prune"])
def test_a_record_that_is_gone_hides_no_new_life_of_its_id(
    open_node: Callable[..., StrictBackend], clock: FakeClock, how: str
) -> None:
    one, two = open_node("one"), open_node("two")
    push(one)
    [job] = poll(one)
    ack(one, job)
    clock.advance(2 * DAY)
    one.sync()
    two.sync()
    if how == "delete":
        two.delete(["job"])
    else:
        assert two.prune(older_than=DAY) == 1
    assert push(two) == "created"
    one._node.sync._pass(history=False)
    assert states(one) == [State.PENDING]
    assert [job.id for job in poll(one)] == ["job"]


def test_a_retry_that_died_before_the_record_was_gone_leaves_no_second_job(
    open_node: Callable[..., StrictBackend], calls: SimulatedCalls
) -> None:
    one, two = open_node("one", kind=HookedBucket), open_node("two")
    push(one)
    fail(one)

    def die() -> None:
        raise Killed

    bucket = one._node.bucket
    assert isinstance(bucket, HookedBucket)
    bucket.before, bucket.happens = ("delete", RECORD), die
    with pytest.raises(Killed):
        one.retry(["job"])
    assert RECORD in calls.objects
    two.sync()
    assert RECORD not in calls.objects
    assert two.snapshot().queues["mail"].states == {State.PENDING: 1}
    assert [job.generation for job in poll(two)] == [2]


def test_a_key_is_not_given_away_while_its_job_is_being_retried(
    open_node: Callable[..., StrictBackend],
) -> None:
    one, two = open_node("one", kind=HookedBucket), open_node("two")
    push(one, key="k")
    fail(one)
    two.sync()
    met: list[str] = []
    bucket = one._node.bucket
    assert isinstance(bucket, HookedBucket)
    bucket.before = ("put_new", "prefix/mail/pending/job/task.json")
    bucket.happens = lambda: met.append(push(two, "rival", key="k"))
    [acted] = one.retry(["job"])
    assert (acted.state, met) == (State.PENDING, ["existing"])
    assert two.get("rival") is None
    assert [job.generation for job in poll(two)] == [2]


def test_a_key_is_not_given_away_while_a_deleted_id_is_being_pushed_again(
    open_node: Callable[..., StrictBackend],
) -> None:
    one, two = open_node("one", kind=HookedBucket), open_node("two")
    push(one, key="k")
    one.delete(["job"])
    met: list[str] = []
    bucket = one._node.bucket
    assert isinstance(bucket, HookedBucket)
    bucket.before = ("put_new", "prefix/mail/pending/job/task.json")
    bucket.happens = lambda: met.append(push(two, "rival", key="k"))
    one.push([Message.of("mail", "send", "anew", id="job", key="k")])
    assert met == ["existing"]
    assert [job.payload for job in poll(two)] == ["anew"]


def test_a_deleted_job_does_not_come_back_by_the_key_that_it_had(
    open_node: Callable[..., StrictBackend],
) -> None:
    one, two = open_node("one"), open_node("two")
    push(one, key="k")
    one.delete(["job"])
    assert push(two, "other", key="k") == "created"
    assert [job.id for job in poll(two)] == ["other"]


def test_a_record_that_is_written_late_does_not_outlive_the_delete_of_its_job(
    open_node: Callable[..., StrictBackend], clock: FakeClock, calls: SimulatedCalls
) -> None:
    one, two = open_node("one", kind=HookedBucket), open_node("two")
    push(one)
    [job] = poll(one)

    def stall() -> None:
        clock.advance(GRACE + 1)
        assert two.delete(["job"])[0].refused is None

    bucket = one._node.bucket
    assert isinstance(bucket, HookedBucket)
    bucket.after, bucket.follows = ("put_over", HOLD), stall
    assert ack(one, job)
    assert not [key for key in calls.objects if key.startswith("prefix/mail/completed/")]
    assert one.get("job") is None
    assert states(one) == []


def test_a_delete_waits_for_whoever_has_just_ended_the_job(
    open_node: Callable[..., StrictBackend], calls: SimulatedCalls
) -> None:
    one, two = open_node("one", kind=HookedBucket), open_node("two", kind=HookedBucket)
    push(one)
    [job] = poll(one)
    looks: list[float] = []
    acted: list[Acted] = []
    bucket, other = one._node.bucket, two._node.bucket
    assert isinstance(bucket, HookedBucket)
    assert isinstance(other, HookedBucket)

    def look() -> None:
        looks.append(time.monotonic())
        other.follows = look

    other.after, other.follows = ("get", HOLD), look
    operator = threading.Thread(target=lambda: acted.extend(two.delete(["job"])))

    def begin() -> None:
        operator.start()
        wait_until(lambda: not operator.is_alive() or len(looks) > 5, what="the operator to wait")

    bucket.before, bucket.happens = ("put_new", "prefix/mail/completed/job.json"), begin
    assert ack(one, job)
    operator.join()
    assert acted[0].refused is None
    assert not [key for key in calls.objects if key.startswith("prefix/mail/completed/")]
    assert two.get("job") is None


def test_a_job_whose_replacement_died_on_its_way_to_another_queue_is_found(
    open_node: Callable[..., StrictBackend],
) -> None:
    one, two = open_node("one", kind=HookedBucket), open_node("two")
    push(one)

    def die() -> None:
        raise Killed

    bucket = one._node.bucket
    assert isinstance(bucket, HookedBucket)
    bucket.before, bucket.happens = ("put_new", "prefix/post/pending/job/task.json"), die
    with pytest.raises(Killed):
        one.push([Message.of("post", "send", "anew", id="job", replace=True)])
    found = two.get("job")
    assert found is not None
    assert (found.queue, found.payload) == ("post", "anew")


def test_a_machine_that_only_pushes_learns_that_a_full_queue_was_worked_off(
    open_node: Callable[..., StrictBackend], clock: FakeClock
) -> None:
    one, two = open_node("one"), open_node("two")

    def pushed(job_id: str) -> str:
        message = Message.of("mail", "send", id=job_id)
        return one.push([message], limits={"mail": Limit(2)})[0].status

    assert [pushed(job_id) for job_id in "abc"] == ["created", "created", "full"]
    two.sync()
    assert all(ack(two, job) for job in poll(two))
    an_hour_later(one, clock)
    assert pushed("d") == "created"


def test_a_task_whose_pusher_died_beside_a_record_is_not_brought_to_life(
    open_node: Callable[..., StrictBackend], clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, dead = open_node("one"), open_node("two"), open_node("dead")
    push(one)
    [job] = poll(one)
    ack(one, job)
    clock.advance(HOUR)
    one.sync()

    def die(*_: object) -> bool:
        raise Killed

    with monkeypatch.context() as dying:
        dying.setattr(entry, "recorded", die)
        with pytest.raises(Killed):
            push(dead)
    [answer] = two.push([Message.of("mail", "send", "other", id="job", replace=True)])
    assert answer.status == "conflict"
    assert poll(two) == []


def test_an_outage_after_the_job_was_written_does_not_say_that_nothing_was(
    open_node: Callable[..., StrictBackend], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = open_node("one"), open_node("two")

    def cut(*_: object) -> bool:
        raise BackendUnavailable("the line is cut")

    with monkeypatch.context() as cutting:
        cutting.setattr(entry, "recorded", cut)
        with pytest.raises(OutcomeUnknown, match="cut"):
            push(one)
    assert two.get("job") is not None
    assert push(one) == "existing"


def test_a_file_that_people_dropped_is_set_aside_by_a_push_of_its_id(
    open_node: Callable[..., StrictBackend], tmp_path: Path
) -> None:
    one = open_node("one")
    push(one, "first")
    dropped = tmp_path / "one" / "mail" / "pending" / "job"
    dropped.mkdir()
    (dropped / "task.json").write_text('{"task": "send", "payload": "by hand"}')
    os.utime(dropped / "task.json", (1e9, 1e9))
    assert push(one) == "created"
    [file] = (tmp_path / "one" / "mail" / "quarantine").glob("*.json")
    assert "by hand" in file.read_text()
    assert one.get("job").payload != "by hand"  # type: ignore[union-attr]


def test_a_failed_job_that_people_moved_back_runs_again(
    open_node: Callable[..., StrictBackend], tmp_path: Path, calls: SimulatedCalls
) -> None:
    push(open_node("one"))
    fail(open_node("one"))
    queue = tmp_path / "one" / "mail"
    back = queue / "pending" / "job"
    back.mkdir()
    (queue / "failed" / "job.json").rename(back / "task.json")
    os.utime(back / "task.json", (1e9, 1e9))
    one, two = open_node("one"), open_node("two")
    one.sync()
    assert [job.generation for job in poll(one)] == [2]
    two.sync()
    assert RECORD not in calls.objects
    assert states(two) == [State.PROCESSING]


def test_what_a_dead_process_left_torn_of_a_deleted_job_goes(
    open_node: Callable[..., StrictBackend],
    clock: FakeClock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, two = open_node("one"), open_node("two")
    push(one)
    [job] = poll(one)
    put_in = one._node.store.put_in

    def torn(place: object, file: str, *content: object, **options: object) -> None:
        if file == "history.json":
            raise Killed
        put_in(place, file, *content, **options)  # type: ignore[arg-type]

    with monkeypatch.context() as dying:
        dying.setattr(one._node.store, "put_in", torn)
        with pytest.raises(Killed):
            one.heartbeat("w", [Beat("job", job.fence)], lease=LEASE)
    two.sync()
    clock.advance(2 * LEASE)
    two.reap()
    two.delete(["job"])
    clock.advance(HOUR)
    two.sync()
    one = open_node("one")
    one.sync()
    assert (states(one), one.depth("mail", 9)) == ([], 0)


def test_a_queue_with_a_long_name_has_it_on_every_machine(
    open_node: Callable[..., StrictBackend],
) -> None:
    one, two = open_node("one"), open_node("two")
    message = Message.of("ü" * 150, "send", id="job")
    one.push([message])
    two.sync()
    assert list(two.snapshot().queues) == [message.queue]
    assert two.get("job").queue == message.queue  # type: ignore[union-attr]
    assert two.push([message])[0].status == "existing"


def test_a_replacement_does_not_take_the_place_of_an_end_that_this_machine_did_not_know(
    open_node: Callable[..., StrictBackend],
) -> None:
    one, two = open_node("one"), open_node("two")
    one.push([Message.of("other", "send", "first", id="job")])
    [job] = one.poll("w", {"other": 1}, lease=LEASE)
    assert ack(one, job)
    assert push(two) == "created"
    [answer] = two.push([Message.of("other", "send", "anew", id="job", replace=True)])
    assert answer.status == "conflict"
    assert [job.id for job in poll(two)] == ["job"]
