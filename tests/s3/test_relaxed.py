"""Relaxed nodes: local claims, offline work, and what the bucket carries between them."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from ferryman.backends.files.layout import ENDS
from ferryman.backends.s3 import relaxed
from ferryman.backends.s3.bucket import Bucket
from ferryman.backends.s3.home import Home
from ferryman.backends.s3.location import Consistency, Location
from ferryman.backends.s3.relaxed import RelaxedBackend
from ferryman.clock import SystemClock
from ferryman.errors import BackendRejected, BackendUnavailable
from ferryman.ids import new_id
from ferryman.job import JobError, State
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.diagnosis import Severity
from ferryman.queue.settlement import Settlement
from ferryman.testing.waiting import wait_until
from tests.s3.nodes import node
from tests.servers.faults import cut_before
from tests.servers.kinds import BUCKET
from tests.servers.line import FOREVER, Line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ferryman.job import Job
    from tests.servers.shared import Server

    Join = Callable[..., RelaxedBackend]

LEASE = 60.0


@pytest.fixture
def prefix() -> str:
    return new_id()


@pytest.fixture
def home(prefix: str) -> Home:
    return Home(Location(BUCKET, prefix))


@pytest.fixture
def raw(ministack: Server, aws_settings: None) -> Iterator[Bucket]:
    with closing(Bucket(BUCKET, endpoint=ministack.address)) as bucket:
        yield bucket


@pytest.fixture
def join(
    ministack: Server,
    aws_settings: None,
    tmp_path: Path,
    prefix: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Join]:
    """Opens a relaxed node by its name; it forgets an outage at once."""
    monkeypatch.setattr(relaxed, "AWAY", 0.0)
    opened: list[RelaxedBackend] = []

    def join_as(name: str, address: str | None = None) -> RelaxedBackend:
        location = Location(
            BUCKET,
            prefix,
            tmp_path / name,
            consistency=Consistency.RELAXED,
            endpoint=address or ministack.address,
        )
        opened.append(RelaxedBackend(location, SystemClock()))
        return opened[-1]

    yield join_as
    for store in opened:
        store.close()


def push(store: RelaxedBackend, job_id: str = "job", **options: object) -> str:
    [answer] = store.push([Message.of("mail", "send", "body", id=job_id, **options)])
    return answer.status


def poll(store: RelaxedBackend, worker: str = "w", lease: float = LEASE) -> list[Job]:
    return list(store.poll(worker, {"mail": 10}, lease=lease))


def ack(store: RelaxedBackend, job: Job) -> bool:
    return store.settle([Settlement.of(job, Verdict.ACK)])[0].applied


def state(store: RelaxedBackend, job_id: str = "job") -> State | None:
    job = store.get(job_id)
    return None if job is None else job.state


def duplicates(raw: Bucket, home: Home) -> int:
    return len(list(raw.list(home.pending("mail").replace("pending/", "duplicates/"))))


def test_new_tasks_and_completions_travel_at_once(join: Join, raw: Bucket, home: Home) -> None:
    one, other = join("one"), join("other")
    push(one)
    assert raw.get(home.task("mail", "job")) is not None
    [job] = poll(other)
    assert ack(other, job)
    assert raw.get(home.record("mail", State.COMPLETED, "job")) is not None
    assert raw.get(home.task("mail", "job")) is None
    one.sync()
    assert state(one) is State.COMPLETED
    assert poll(one) == []


def test_a_node_works_offline_and_catches_up(
    join: Join, ministack: Server, raw: Bucket, home: Home
) -> None:
    with Line(ministack.address) as line:
        one = join("one", line.address)
        line.fault(cut_before, times=FOREVER)
        push(one, "done")
        push(one, "waiting", delay=600)
        [job] = poll(one)
        assert ack(one, job)
        with pytest.raises(BackendUnavailable):
            one.sync()
        line.calm()
        one.sync()
    assert raw.get(home.record("mail", State.COMPLETED, "done")) is not None
    assert raw.get(home.task("mail", "waiting")) is not None
    other = join("other")
    other.sync()
    assert (state(other, "done"), state(other, "waiting")) == (State.COMPLETED, State.PENDING)


def test_a_node_starts_while_the_bucket_is_away(join: Join, ministack: Server) -> None:
    with Line(ministack.address) as line:
        line.fault(cut_before, times=FOREVER)
        one = join("one", line.address)
        push(one)
        assert len(poll(one)) == 1


def test_a_lease_of_another_node_is_honoured_until_it_expires(join: Join) -> None:
    one, other = join("one"), join("other")
    push(one)
    [job] = poll(one, "w1", lease=2.0)
    one.sync()
    other.sync()
    assert state(other) is State.PROCESSING
    assert poll(other, "w2") == []
    wait_until(
        lambda: [each.id for each in other.reap()] == [job.id],
        what="the other node's lease to expire",
    )


def test_errors_and_attempts_travel_with_a_job_that_is_tried_again(join: Join) -> None:
    one, other = join("one"), join("other")
    push(one)
    [job] = poll(one)
    error = JobError(1, 0.0, "w", "ValueError", "boom")
    one.settle([Settlement.of(job, Verdict.NACK, error=error, delay=0.0)])
    one.sync()
    other.sync()
    [again] = poll(other)
    assert (again.fence, again.attempts) == (2, 2)
    whole = other.get("job")
    assert whole is not None
    assert [each.text for each in whole.errors] == ["boom"]


def test_a_job_that_ran_twice_is_counted(join: Join, raw: Bucket, home: Home) -> None:
    one, other = join("one"), join("other")
    push(one)
    other.sync()
    [first], [second] = poll(one, "w1"), poll(other, "w2")
    assert ack(one, first)
    assert ack(other, second)
    assert duplicates(raw, home) == 1
    for store in (one, other):
        store.sync()
        seen = store.get("job")
        assert seen is not None
        assert (seen.state, seen.worker) == (State.COMPLETED, "w1")
    assert any("1 job(s)" in finding.what for finding in one.diagnose())


@pytest.mark.parametrize("verdict", [Verdict.ACK, Verdict.FAIL])
def test_of_two_ends_made_offline_the_earlier_stands_everywhere(
    join: Join, ministack: Server, raw: Bucket, home: Home, verdict: Verdict
) -> None:
    with Line(ministack.address) as line:
        one, other = join("one", line.address), join("other")
        push(one)
        other.sync()
        [first], [second] = poll(one, "w1"), poll(other, "w2")
        line.fault(cut_before, times=FOREVER)
        assert ack(one, first)
        assert other.settle([Settlement.of(second, verdict)])[0].applied
        line.calm()
        assert one.sync()["duplicates"] == 1
        for store in (other, one, other):
            store.sync()
        for store in (one, other):
            seen = store.get("job")
            assert seen is not None
            assert (seen.state, seen.worker) == (State.COMPLETED, "w1")
    assert duplicates(raw, home) == 1
    ends = [raw.get(home.record("mail", state, "job")) for state in ENDS]
    assert len([end for end in ends if end is not None]) == 1


def test_a_second_end_that_comes_after_the_next_generation_ended_is_counted(
    join: Join, raw: Bucket, home: Home
) -> None:
    one, other, third = join("one"), join("other"), join("third")
    push(one)
    one.sync()
    other.sync()
    [first], [late] = poll(one, "w1"), poll(other, "w2")
    assert ack(one, first)
    third.sync()
    one.retry(["job"])
    assert ack(one, poll(one, "w1")[0])
    assert duplicates(raw, home) == 0
    assert ack(other, late)
    assert duplicates(raw, home) == 1
    for store in (third, other, one):
        assert store.sync()["duplicates"] == 0
        seen = store.get("job")
        assert seen is not None
        assert (seen.worker, seen.generation) == ("w1", 2)
    assert duplicates(raw, home) == 1


def test_an_end_that_was_retried_offline_makes_anothers_end_a_second_one(
    join: Join, ministack: Server, raw: Bucket, home: Home
) -> None:
    with Line(ministack.address) as line:
        one, other = join("one", line.address), join("other")
        push(one)
        other.sync()
        [first], [second] = poll(one, "w1"), poll(other, "w2")
        line.fault(cut_before, times=FOREVER)
        assert ack(one, first)
        one.retry(["job"])
        assert ack(other, second)
        assert duplicates(raw, home) == 0
        line.calm()
        one.sync()
    assert duplicates(raw, home) == 1
    other.sync()
    assert [job.generation for job in poll(other)] == [2]


def test_a_generation_that_began_and_ended_offline_is_carried_by_the_next_pass(
    join: Join, ministack: Server
) -> None:
    with Line(ministack.address) as line:
        one, other = join("one", line.address), join("other")
        push(one)
        assert ack(one, poll(one)[0])
        one.sync()
        line.fault(cut_before, times=FOREVER)
        one.retry(["job"])
        assert ack(one, poll(one)[0])
        line.calm()
        assert one.sync()["duplicates"] == 0
    other.sync()
    seen = other.get("job")
    assert seen is not None
    assert (seen.state, seen.generation) == (State.COMPLETED, 2)


def test_a_late_end_leaves_the_next_generation_in_the_bucket(
    join: Join, raw: Bucket, home: Home
) -> None:
    one, other = join("one"), join("other")
    push(one)
    other.sync()
    [first], [late] = poll(one, "w1"), poll(other, "w2")
    assert ack(one, first)
    one.retry(["job"])
    assert ack(other, late)
    assert raw.get(home.task("mail", "job")) is not None
    assert [job.generation for job in poll(join("third"))] == [2]
    assert duplicates(raw, home) == 1


def test_a_sync_never_deletes_what_only_one_side_has(join: Join, raw: Bucket, home: Home) -> None:
    one, other = join("one"), join("other")
    push(one, "mine")
    raw.delete(home.task("mail", "mine"))
    push(other, "theirs")
    one.sync()
    assert raw.get(home.task("mail", "mine")) is not None
    assert raw.get(home.task("mail", "theirs")) is not None
    assert (state(one, "mine"), state(one, "theirs")) == (State.PENDING, State.PENDING)


def test_a_deletion_is_carried_at_once_or_by_the_next_pass(
    join: Join, ministack: Server, raw: Bucket, home: Home
) -> None:
    with Line(ministack.address) as line:
        one, other = join("one", line.address), join("other")
        for job_id in ("now", "later", "again"):
            push(one, job_id)
        other.sync()
        one.delete(["now"])
        assert raw.get(home.task("mail", "now")) is None
        line.fault(cut_before, times=FOREVER)
        one.delete(["later", "again"])
        [answer] = one.push([Message.of("mail", "send", "another body", id="again")])
        assert answer.created
        line.calm()
        one.sync()
        assert raw.get(home.task("mail", "later")) is None
        assert (state(one, "later"), state(one, "again")) == (None, State.PENDING)
    found = raw.get(home.task("mail", "again"))
    assert found is not None
    assert b"another body" in found.body


def test_what_operators_do_travels_at_once(join: Join, raw: Bucket, home: Home) -> None:
    one, other = join("one"), join("other")
    push(one)
    one.cancel(["job"])
    assert raw.get(home.record("mail", State.CANCELLED, "job")) is not None
    one.retry(["job"])
    [job] = poll(other)
    assert job.generation == 2
    assert ack(other, job)
    assert raw.get(home.record("mail", State.CANCELLED, "job")) is None
    one.sync()
    assert state(one) is State.COMPLETED


def test_a_replaced_body_travels(join: Join) -> None:
    one, other = join("one"), join("other")
    push(one)
    other.sync()
    [answer] = one.push([Message.of("mail", "send", "new", id="job", replace=True)])
    assert answer.status == "replaced"
    other.sync()
    assert [job.payload for job in poll(other)] == ["new"]


def test_a_task_that_comes_back_after_its_end_is_not_run_again(
    join: Join, raw: Bucket, home: Home
) -> None:
    one, other = join("one"), join("other")
    push(one)
    zombie = raw.get(home.task("mail", "job"))
    assert zombie is not None
    assert ack(one, poll(one)[0])
    raw.put(home.task("mail", "job"), zombie.body)
    assert poll(other) == []
    one.sync()
    assert raw.get(home.task("mail", "job")) is None


def test_relaxed_says_what_it_does_not_promise(join: Join) -> None:
    able = join("one").capabilities
    assert (able.fenced, able.exact_counts) == (False, False)


def test_relaxed_works_where_conditions_are_ignored(
    rclone: Server, aws_settings: None, tmp_path: Path, prefix: str
) -> None:
    location = Location(
        BUCKET, prefix, tmp_path, consistency=Consistency.RELAXED, endpoint=rclone.address
    )
    with closing(RelaxedBackend(location, SystemClock())) as store:
        push(store)
        assert ack(store, poll(store)[0])
        store.sync()
        found = {finding.check: finding for finding in store.diagnose()}
    assert "strict could not be used here" in found["conditional create"].what
    assert Severity.PROBLEM not in {finding.severity for finding in found.values()}


def test_a_strict_node_does_not_take_a_relaxed_root(
    join: Join, ministack: Server, tmp_path: Path, prefix: str
) -> None:
    join("one")
    with pytest.raises(BackendRejected, match="relaxed"):
        node(ministack.address, prefix, tmp_path / "one")
