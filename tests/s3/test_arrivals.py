"""What arrives from the bucket while this node works: no claim of it is given out a second time.

One process of a node makes a pass and stands still before each of its file-system calls and
requests, while another process of the node acts.
"""

from __future__ import annotations

from contextlib import ExitStack, closing, suppress
from itertools import count
from typing import TYPE_CHECKING

import pytest

from ferryman.job import State
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.heartbeat import Beat
from ferryman.queue.settlement import Settlement
from tests.s3.meetings import Node, at_each_point
from tests.s3.nodes import LEASE, Killed, ack, poll, push

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.s3.meetings import Act


def claimed(node: Node) -> None:
    node.second.sync()
    node.claim()


def completed(node: Node) -> None:
    node.second.sync()
    for job in node.claim():
        node.complete(job)


def failed(node: Node) -> None:
    node.second.sync()
    for job in node.claim():
        node.second.settle([Settlement.of(job, Verdict.NACK, delay=0.0)])


def completed_and_retried(node: Node) -> None:
    completed(node)
    node.second.retry(["job"])


def pushed_elsewhere(node: Node) -> None:
    push(node.other)
    node.other.sync()


def known_here(node: Node) -> None:
    pushed_elsewhere(node)
    node.second.sync()


def leased_elsewhere(node: Node) -> None:
    known_here(node)
    poll(node.other, "elsewhere", lease=1.0)
    node.other.sync()


def no_claim_is_given_out_twice(node: Node) -> None:
    for store in (node.first, node.second):
        store.sync()
        node.claim(store)
    assert len(set(node.fences)) == len(node.fences), node.still.seen[-1]


@pytest.mark.parametrize("before", [pushed_elsewhere, known_here, leased_elsewhere])
@pytest.mark.parametrize("act", [claimed, completed, failed, completed_and_retried])
def test_a_claim_number_is_used_once_on_a_node(before: Act, act: Act, tmp_path: Path) -> None:
    assert at_each_point(tmp_path, before, act, no_claim_is_given_out_twice) > 20


@pytest.mark.parametrize("before", [pushed_elsewhere, known_here])
def test_a_job_that_runs_here_is_not_given_out_by_what_arrives(before: Act, tmp_path: Path) -> None:
    def runs_on(node: Node) -> None:
        [job] = node.claims
        assert poll(node.first) == poll(node.second) == []
        assert node.complete(job)

    at_each_point(tmp_path, before, claimed, runs_on)


@pytest.mark.parametrize("before", [pushed_elsewhere, known_here])
def test_a_job_that_ended_here_stays_so_whatever_arrives(before: Act, tmp_path: Path) -> None:
    def stays_completed(node: Node) -> None:
        for store in (node.first, node.second):
            store.sync()
            job = store.get("job")
            assert job is not None
            assert job.state is State.COMPLETED
            assert poll(store) == []

    at_each_point(tmp_path, before, completed, stays_completed)


def ended_elsewhere(node: Node) -> None:
    known_here(node)
    assert ack(node.other, poll(node.other, "elsewhere")[0])


def ended_elsewhere_unseen(node: Node) -> None:
    pushed_elsewhere(node)
    assert ack(node.other, poll(node.other, "elsewhere")[0])


def claimed_unseen(node: Node) -> None:
    node.claim()


def completed_unseen(node: Node) -> None:
    for job in node.claim():
        node.complete(job)


@pytest.mark.parametrize("before", [ended_elsewhere, ended_elsewhere_unseen])
@pytest.mark.parametrize("act", [claimed_unseen, completed_unseen])
def test_a_second_end_is_kept_wherever_the_first_one_arrives(
    before: Act, act: Act, tmp_path: Path
) -> None:
    def is_counted(node: Node) -> None:
        for job in node.claims:
            node.complete(job)
        for store in (node.first, node.second, node.other, node.first):
            store.sync()
            assert poll(store) == []
        assert len(node.objects("completed")) == 1
        assert len(node.objects("duplicates")) == len(node.ended)
        assert node.objects("pending") == []

    at_each_point(tmp_path, before, act, is_counted)


def retried_elsewhere_while_it_runs_here(node: Node) -> None:
    known_here(node)
    claimed_unseen(node)
    node.clock.advance(1)
    assert ack(node.other, poll(node.other, "elsewhere")[0])
    node.other.retry(["job"])


def test_a_second_end_is_kept_although_the_next_generation_arrives(tmp_path: Path) -> None:
    def end(node: Node) -> None:
        assert node.complete(node.claims[0])

    def is_counted(node: Node) -> None:
        for store in (node.first, node.second, node.other):
            store.sync()
            seen = store.get("job")
            assert seen is not None
            assert (seen.generation, seen.state) == (2, State.PENDING)
        assert len(node.objects("duplicates")) == 1

    at_each_point(tmp_path, retried_elsewhere_while_it_runs_here, end, is_counted)


@pytest.mark.parametrize(
    ("before", "runs"), [(pushed_elsewhere, 1), (ended_elsewhere, 0), (ended_elsewhere_unseen, 0)]
)
def test_a_process_that_dies_while_something_arrives_is_in_nobodys_way(
    before: Act, runs: int, tmp_path: Path
) -> None:
    for point in count():
        with ExitStack() as stack:
            node = Node(tmp_path / str(point), stack)
            before(node)
            dying, disk, _ = node.mortal()
            with suppress(Killed), closing(dying):
                disk.arm(point)
                dying.sync()
                disk.arm(None)
                break
            node.second.sync()
            assert [job.fence for job in node.claim()] == [1] * runs
            assert all(node.complete(job) for job in node.claims)
            seen = node.second.get("job")
            assert seen is not None
            assert seen.state is State.COMPLETED
            assert list((node.folder / "one/mail/pending").iterdir()) == []
    assert point > 20


@pytest.mark.parametrize(
    ("verdicts", "ends"),
    [
        ((Verdict.FAIL, Verdict.ACK), ("failed", "completed")),
        ((Verdict.ACK, Verdict.FAIL), ("completed", "failed")),
    ],
)
def test_a_process_that_dies_while_it_carries_a_retried_jobs_end_leaves_one_record(
    verdicts: tuple[Verdict, Verdict], ends: tuple[str, str], tmp_path: Path
) -> None:
    before, after = ends
    for request in count(1):
        with ExitStack() as stack:
            node = Node(tmp_path / str(request), stack)
            push(node.second)
            node.second.settle([Settlement.of(node.claim()[0], verdicts[0])])
            node.second.retry(["job"])
            dying, _, bucket = node.mortal()
            [job] = poll(dying)
            with suppress(Killed), closing(dying):
                bucket.doom(request, after=True)
                dying.settle([Settlement.of(job, verdicts[1])])
                break
            node.second.sync()
            assert node.objects(before) == node.objects("duplicates") == []
            [record] = node.objects(after)
            earlier = f'"earlier": {{"1": "{before} 1:w0:{verdicts[0]} w0"}}'
            assert earlier in node.calls.objects[record].body.decode()
    assert request > 3


@pytest.mark.parametrize("heirs", [(0, 1), (1, 0)])
def test_of_two_ends_that_were_left_in_the_bucket_the_earlier_stands(
    heirs: tuple[int, int], tmp_path: Path
) -> None:
    with ExitStack() as stack:
        node = Node(tmp_path, stack)
        known_here(node)
        dying, _, bucket = node.mortal()
        mine, theirs = poll(dying), poll(node.other, "elsewhere")
        bucket.doom(2, after=False)
        with suppress(Killed), closing(dying):
            dying.settle([Settlement.of(mine[0], Verdict.FAIL)])
        [failed] = node.objects("failed")
        left = node.calls.objects.pop(failed)
        node.clock.advance(1)
        assert ack(node.other, theirs[0])
        node.calls.objects[failed] = left
        stores = (node.second, node.other)
        for heir in (*heirs, *heirs):
            stores[heir].sync()
        for store in stores:
            seen = store.get("job")
            assert seen is not None
            assert seen.state is State.FAILED
        assert node.objects("completed") == []
        assert len(node.objects("failed")) == len(node.objects("duplicates")) == 1


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    with ExitStack() as stack:
        yield Node(tmp_path, stack)


def end_here_after_elsewhere(node: Node) -> None:
    """Claim 1 ends the job elsewhere; here claim 1 fails and claim 2 ends it a second time."""
    known_here(node)
    claimed_unseen(node)
    ended = poll(node.other, "elsewhere")
    node.clock.advance(1)
    node.second.settle([Settlement.of(node.claims[0], Verdict.NACK, delay=0.0)])
    claimed_unseen(node)
    assert ack(node.other, ended[0])
    node.clock.advance(1)
    assert node.complete(node.claims[1])
    assert node.fences == [1, 2]
    seen = node.second.get("job")
    assert seen is not None
    assert seen.worker == "elsewhere"


def test_a_job_retried_here_after_anothers_end_stood_is_numbered_on(node: Node) -> None:
    end_here_after_elsewhere(node)
    node.second.retry(["job"])
    node.claim()
    assert node.fences == [1, 2, 3]


def test_a_job_retried_elsewhere_is_numbered_on_here(node: Node) -> None:
    end_here_after_elsewhere(node)
    node.other.retry(["job"])
    node.second.sync()
    node.claim()
    assert node.fences == [1, 2, 3]
    assert node.complete(node.claims[2])
    node.other.sync()
    seen = node.other.get("job")
    assert seen is not None
    assert (seen.state, seen.generation, seen.fence) == (State.COMPLETED, 2, 3)


def test_a_lease_from_elsewhere_with_a_number_used_here_is_honoured_and_passed_over(
    node: Node,
) -> None:
    end_here_after_elsewhere(node)
    node.other.retry(["job"])
    [job] = poll(node.other, "elsewhere", lease=LEASE)
    assert job.fence == 2
    node.other.sync()
    node.second.sync()
    assert node.claim() == []
    node.clock.advance(LEASE / 2)
    node.other.heartbeat("elsewhere", [Beat("job", 2)], lease=LEASE)
    node.other.sync()
    node.second.sync()
    node.clock.advance(LEASE * 0.75)
    assert list(node.second.reap()) == []
    node.clock.advance(LEASE)
    assert [each.id for each in node.second.reap()] == ["job"]
    node.clock.advance(LEASE)
    node.claim()
    assert node.fences == [1, 2, 4]


def test_a_body_replaced_elsewhere_starts_no_number_again(node: Node) -> None:
    known_here(node)
    node.claim()
    node.second.settle([Settlement.of(node.claims[0], Verdict.NACK, delay=0.0)])
    node.other.push([Message.of("mail", "send", "new", id="job", replace=True)])
    node.second.sync()
    [job] = node.claim()
    assert (job.payload, node.fences) == ("new", [1, 2])


def test_a_body_replaced_where_the_job_was_not_pushed_travels(node: Node) -> None:
    known_here(node)
    node.second.push([Message.of("mail", "send", "new", id="job", replace=True)])
    for store in (node.second, node.other):
        store.sync()
        seen = store.get("job")
        assert seen is not None
        assert seen.payload == "new"
