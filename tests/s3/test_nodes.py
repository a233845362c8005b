"""Two nodes on one bucket, each with a local tree of its own."""

from __future__ import annotations

import json
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from ferryman.backends.s3.bucket import Bucket
from ferryman.backends.s3.home import Home
from ferryman.backends.s3.location import Location
from ferryman.backends.s3.sync import TOMBSTONE
from ferryman.errors import BackendRejected, BackendUnavailable
from ferryman.filter import Filter
from ferryman.ids import new_id
from ferryman.job import State
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.heartbeat import Beat
from ferryman.queue.settlement import Settlement
from ferryman.testing.clock import FakeClock
from ferryman.testing.conformance.crowd import drain, together
from tests.s3.nodes import Killed, mortal, node
from tests.servers.faults import cut_before, dated
from tests.servers.kinds import BUCKET
from tests.servers.line import FOREVER, Line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ferryman.backends.s3.strict import StrictBackend
    from ferryman.job import Job
    from tests.servers.shared import Server

LEASE = 60.0


@pytest.fixture
def prefix() -> str:
    return new_id()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def home(prefix: str) -> Home:
    return Home(Location(BUCKET, prefix))


@pytest.fixture
def raw(ministack: Server, aws_settings: None) -> Iterator[Bucket]:
    with closing(Bucket(BUCKET, endpoint=ministack.address)) as bucket:
        yield bucket


@pytest.fixture
def join(
    ministack: Server, aws_settings: None, tmp_path: Path, prefix: str, clock: FakeClock
) -> Iterator[Callable[..., StrictBackend]]:
    """Opens a node by its name: a folder of its own, the same bucket."""
    opened: list[StrictBackend] = []

    def join_as(name: str, address: str | None = None, **options: object) -> StrictBackend:
        given = {"clock": clock, **options}
        opened.append(node(address or ministack.address, prefix, tmp_path / name, **given))  # type: ignore[arg-type]
        return opened[-1]

    yield join_as
    for store in opened:
        store.close()


def push(store: StrictBackend, job_id: str = "job", **options: object) -> str:
    [answer] = store.push([Message.of("mail", "send", "body", id=job_id, **options)])
    return answer.status


def poll(store: StrictBackend, worker: str = "w", limit: int = 10) -> list[Job]:
    return list(store.poll(worker, {"mail": limit}, lease=LEASE))


def ack(store: StrictBackend, job: Job) -> bool:
    return store.settle([Settlement.of(job, Verdict.ACK)])[0].applied


def test_two_nodes_never_run_one_job(join: Callable[..., StrictBackend]) -> None:
    one, other = join("one"), join("other")
    ids = [f"job-{number}" for number in range(60)]
    one.push([Message.of("mail", "send", id=job_id) for job_id in ids])
    other.sync()
    found = together(lambda: drain(one, "w1"), lambda: drain(other, "w2"))
    assert sorted(job.id for jobs in found for job in jobs) == sorted(ids)
    assert {job.fence for jobs in found for job in jobs} == {1}


def test_a_new_task_travels_at_once(join: Callable[..., StrictBackend]) -> None:
    one, other = join("one"), join("other")
    push(one)
    assert [job.id for job in poll(other)] == ["job"]


def test_a_completion_travels_at_once(join: Callable[..., StrictBackend]) -> None:
    one, other = join("one"), join("other")
    push(one)
    assert ack(one, poll(one)[0])
    seen = other.get("job")
    assert seen is not None
    assert seen.state is State.COMPLETED
    assert push(other) == "existing"


def test_a_finished_job_is_not_claimed_by_a_node_that_has_not_heard_of_it(
    join: Callable[..., StrictBackend],
) -> None:
    one, other = join("one"), join("other")
    push(one)
    other.sync()
    assert ack(one, poll(one)[0])
    assert poll(other) == []
    assert other.snapshot().count(State.COMPLETED) == 1


def test_a_node_that_was_away_for_long_syncs_before_it_claims(
    join: Callable[..., StrictBackend], clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = join("one"), join("other")
    push(one)
    other.sync()
    assert ack(one, poll(one)[0])
    clock.advance(TOMBSTONE + 1)
    one.sync()
    # Nothing in pending/ tells of the job any more; only the other node's mirror does.
    monkeypatch.setattr("ferryman.backends.s3.sync.FRESH", 0.0)
    assert poll(other) == []
    seen = other.get("job")
    assert seen is not None
    assert seen.state is State.COMPLETED


def test_a_task_that_comes_back_after_its_end_is_never_run_again(
    join: Callable[..., StrictBackend], clock: FakeClock, raw: Bucket, home: Home
) -> None:
    one, other = join("one"), join("other")
    push(one)
    key = home.task("mail", "job")
    zombie = raw.get(key)
    assert zombie is not None
    assert ack(one, poll(one)[0])
    clock.advance(TOMBSTONE + 1)
    one.sync()
    raw.put(key, zombie.body)
    assert poll(other) == []
    clock.advance(60)
    other.sync()
    one.sync()
    assert raw.get(key) is None
    assert (poll(one), poll(other)) == ([], [])


def test_a_sync_never_deletes_what_only_the_other_side_has(
    join: Callable[..., StrictBackend], raw: Bucket, home: Home, tmp_path: Path
) -> None:
    one, other = join("one"), join("other")
    other.sync()
    push(one)
    other.sync()
    assert raw.get(home.task("mail", "job")) is not None
    push(one, "vanished")
    raw.delete(home.task("mail", "vanished"))
    time.sleep(2.1)  # a folder that changed within two seconds may still be in somebody's hands
    one.sync()
    kept = tmp_path / "one" / "mail" / "quarantine"
    assert "no longer in the bucket" in (kept / "vanished.reason.txt").read_text()
    assert (kept / "vanished.json").exists()
    assert [job.id for job in poll(one)] == ["job"]


def test_of_two_reapers_one_reclaims_a_lease(
    join: Callable[..., StrictBackend], clock: FakeClock
) -> None:
    one, other = join("one"), join("other")
    for number in range(12):
        push(one, f"job-{number}")
    assert len(poll(one, "dead", 12)) == 12
    other.sync()
    clock.advance(LEASE + 1)
    found = together(one.reap, other.reap)
    assert sorted(each.id for reaped in found for each in reaped) == sorted(
        f"job-{number}" for number in range(12)
    )


def test_a_lease_that_another_node_prolonged_is_not_reaped(
    join: Callable[..., StrictBackend], clock: FakeClock
) -> None:
    one, other = join("one"), join("other")
    push(one)
    [job] = poll(one, "w1")
    other.sync()
    clock.advance(LEASE - 1)
    assert one.heartbeat("w1", [Beat(job.id, job.fence)], lease=LEASE)[0].held
    clock.advance(2)
    assert list(other.reap()) == []
    assert ack(one, job)


@pytest.mark.parametrize("request_number", [1, 2])
def test_a_process_that_dies_in_an_ack_leaves_no_wrong_picture_on_its_machine(
    join: Callable[..., StrictBackend], ministack: Server, request_number: int
) -> None:
    bucket = mortal(ministack.address)
    store = join("one", bucket=bucket)
    push(store)
    [job] = poll(store)
    bucket.doom(request_number, after=True)
    with pytest.raises(Killed):
        ack(store, job)
    again = join("one")
    assert [each.state for each in again.list(Filter()).jobs] == [State.COMPLETED]
    assert again.snapshot().count(State.PROCESSING) == 0


def test_a_worker_whose_lease_was_reclaimed_records_nothing(
    join: Callable[..., StrictBackend], clock: FakeClock
) -> None:
    one, other = join("one"), join("other")
    push(one)
    [lost] = poll(one, "w1")
    clock.advance(LEASE + 1)
    other.sync()
    assert len(other.reap()) == 1
    clock.advance(10)
    [job] = poll(other, "w2")
    assert not ack(one, lost)
    assert not one.heartbeat("w1", [Beat(lost.id, lost.fence)], lease=LEASE)[0].held
    assert ack(other, job)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"state": "leased"}'])
def test_a_lease_that_nobody_can_read_counts_by_its_age(
    join: Callable[..., StrictBackend], raw: Bucket, home: Home, content: bytes
) -> None:
    clock = FakeClock(time.time())
    store = join("one", clock=clock)
    push(store)
    raw.put(home.lease("mail", "job"), content)
    assert poll(store) == []
    clock.advance(61)
    assert [reaped.id for reaped in store.reap()] == ["job"]
    clock.advance(10)
    [job] = poll(store)
    assert job.fence > 1
    assert ack(store, job)


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_machine_whose_clock_is_an_hour_off_starts_nothing_early_and_steals_nothing(
    join: Callable[..., StrictBackend], hours: int, ministack: Server
) -> None:
    class Off:
        def now(self) -> float:
            return time.time() + hours * 3_600

        def monotonic(self) -> float:
            return time.monotonic()

    right = join("right", clock=None)
    with Line(ministack.address) as line:
        # The server's word counts; to move its clock is to move this machine's the other way.
        line.fault(dated(0), times=FOREVER)
        wrong = join("wrong", line.address, clock=None)
        wrong._node.bucket.clock()._local = Off()
        push(right, "held")
        [held] = poll(right, "w1")
        push(right, "later", delay=1_800)
        wrong.sync()
        assert list(wrong.reap()) == []
        assert poll(wrong, "w2") == []
        assert abs(wrong.clock.now() - time.time()) < 5
        assert ack(right, held)


def test_without_s3_every_verb_says_so(
    join: Callable[..., StrictBackend], ministack: Server
) -> None:
    with Line(ministack.address) as line:
        store = join("one", line.address)
        push(store)
        line.fault(cut_before, times=FOREVER)
        for verb in (
            lambda: poll(store),
            lambda: store.get("job"),
            lambda: store.list(Filter()),
            store.snapshot,
            store.reap,
            lambda: store.read_cells(""),
            store.sync,
        ):
            with pytest.raises(BackendUnavailable):
                verb()
        line.calm()
        assert [job.id for job in poll(store)] == ["job"]


def test_an_empty_answer_was_confirmed_by_the_bucket(
    join: Callable[..., StrictBackend], ministack: Server
) -> None:
    with Line(ministack.address) as line:
        store = join("one", line.address)
        assert poll(store) == []
        line.fault(cut_before, times=FOREVER)
        with pytest.raises(BackendUnavailable):
            poll(store)


def test_strict_refuses_an_endpoint_that_ignores_conditions(
    rclone: Server, aws_settings: None, tmp_path: Path, prefix: str
) -> None:
    with pytest.raises(BackendRejected, match="consistency=relaxed"):
        node(rclone.address, prefix, tmp_path / "one")


def test_a_newer_format_is_refused(
    join: Callable[..., StrictBackend], raw: Bucket, home: Home
) -> None:
    raw.put(home.format, json.dumps({"ferryman": "queues", "format": 99}).encode())
    with pytest.raises(BackendRejected, match="upgrade ferryman"):
        join("one")


def test_a_root_belongs_to_one_store(
    join: Callable[..., StrictBackend], ministack: Server, tmp_path: Path
) -> None:
    join("one")
    with pytest.raises(BackendRejected, match="choose another root"):
        node(ministack.address, new_id(), tmp_path / "one")


def test_a_campaign_has_its_own_keys(
    ministack: Server, aws_settings: None, tmp_path: Path, prefix: str, raw: Bucket
) -> None:
    with closing(node(ministack.address, prefix, tmp_path / "one", campaign="roofers/24")) as store:
        push(store)
    keys = {entry.key for entry in raw.list(f"{prefix}/")}
    assert f"{prefix}/campaigns/roofers%2F24/queues/mail/pending/job/task.json" in keys
    assert all(key.startswith(f"{prefix}/campaigns/roofers%2F24/queues/") for key in keys)


def test_a_job_dropped_into_the_local_tree_enters_the_bucket(
    join: Callable[..., StrictBackend], tmp_path: Path, raw: Bucket, home: Home
) -> None:
    one, other = join("one"), join("other")
    push(one)
    dropped = tmp_path / "one" / "mail" / "pending" / "dropped"
    dropped.mkdir()
    (dropped / "task.json").write_text('{"task": "send", "payload": 7}')
    one.sync()
    assert raw.get(home.task("mail", "dropped")) is not None
    assert sorted(job.id for job in poll(other)) == ["dropped", "job"]


def test_a_paused_queue_is_paused_for_every_node(
    join: Callable[..., StrictBackend], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = join("one"), join("other")
    push(one)
    one.pause_queue("mail")
    assert poll(other) == []
    one.resume_queue("mail")
    monkeypatch.setattr("ferryman.backends.s3.pausing.FRESH", 0.0)
    assert len(poll(other)) == 1


def test_requests_for_each_job_are_as_documented(join: Callable[..., StrictBackend]) -> None:
    store = join("one")
    push(store, "first")
    assert ack(store, poll(store)[0])

    def spent(act: Callable[[], object]) -> dict[str, int]:
        before = dict(store.requests)
        act()
        after = store.requests
        kinds = {kind: after[kind] - before.get(kind, 0) for kind in after}
        return {kind: number for kind, number in kinds.items() if number}

    jobs: list[Job] = []
    assert spent(lambda: push(store)) == {"put": 1, "get": 3}
    assert spent(lambda: jobs.extend(poll(store, limit=1))) == {"put": 1}
    assert spent(lambda: store.heartbeat("w", [Beat("job", 1)], lease=LEASE)) == {"put": 1}
    assert spent(lambda: ack(store, jobs[0])) == {"put": 2, "delete": 1}
    assert spent(lambda: store.get("job")) == {"get": 2}
