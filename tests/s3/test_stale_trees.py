"""What a machine's tree shows may be old, or may not be written: the bucket is right."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

import pytest

from ferryman.backends.files.disk import LocalDisk
from ferryman.backends.s3.stamp import TOMBSTONE
from ferryman.errors import OutcomeUnknown
from ferryman.filter import Filter
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.settlement import Settlement
from tests.s3.nodes import HookedBucket, ack, fail, poll, push

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman.backends.s3.strict import StrictBackend
    from ferryman.testing.clock import FakeClock
    from tests.s3.simulated import SimulatedCalls

HOUR = 3_600.0
DAY = 86_400.0


class FullDisk(LocalDisk):
    """A disk on which no folder can be made any more once it is `full`."""

    full = False

    def make_folder(self, path: str) -> bool:
        if self.full:
            raise OSError(errno.ENOSPC, "No space left on device", path)
        return super().make_folder(path)

    def rename(self, path: str, new: str, *, at: int | None = None) -> None:
        if self.full:
            raise OSError(errno.ENOSPC, "No space left on device", path)
        super().rename(path, new, at=at)


@pytest.mark.parametrize("away", [0.0, TOMBSTONE + 1], ids=["a moment", "longer than a tombstone"])
def test_a_record_that_was_written_again_elsewhere_is_not_pruned(
    open_node: Callable[..., StrictBackend], clock: FakeClock, away: float
) -> None:
    one, two = open_node("one"), open_node("two")
    push(one)
    fail(one)
    two.sync()
    clock.advance(2 * DAY)
    one.sync()
    two.retry(["job"])
    fail(two)
    if away:
        clock.advance(away)
        two.sync()
        one.sync()
    assert one.prune(older_than=DAY) == 0
    job = two.get("job")
    assert job is not None
    assert job.generation == 2
    clock.advance(2 * DAY)
    assert one.prune(older_than=DAY) == 1
    assert two.get("job") is None


@pytest.mark.parametrize("restarted", [False, True], ids=["the same process", "another one"])
def test_a_record_that_was_written_again_while_a_machine_was_away_is_shown_as_it_is(
    open_node: Callable[..., StrictBackend],
    clock: FakeClock,
    calls: SimulatedCalls,
    restarted: bool,
) -> None:
    one, two = open_node("one"), open_node("two")
    for job_id in ("job", "other"):
        push(one, job_id)
        fail(one)
    two.sync()
    clock.advance(HOUR)
    one.sync()
    two.retry(["job"])
    fail(two)
    clock.advance(TOMBSTONE + 1)
    two.sync()
    one = open_node("one") if restarted else one
    one.sync()
    assert {job.id: job.generation for job in one.list(Filter()).jobs} == {"job": 2, "other": 1}
    asked = calls.tally.counts()["get"]
    one.sync()
    assert calls.tally.counts()["get"] - asked <= 3, "what did not change is not read again"


def test_a_tombstone_that_goes_during_a_pass_is_not_missed(
    open_node: Callable[..., StrictBackend], clock: FakeClock
) -> None:
    one, two = open_node("one", kind=HookedBucket), open_node("two")
    push(one)
    fail(one)
    clock.advance(HOUR)
    one.sync()
    two.sync()
    clock.advance(1)
    two.retry(["job"])
    fail(two)
    clock.advance(TOMBSTONE - 3)

    def goes() -> None:
        clock.advance(5)
        two.sync()

    bucket = one._node.bucket
    assert isinstance(bucket, HookedBucket)
    bucket.before, bucket.happens = ("list", "prefix/.queues/"), goes
    one.sync()
    assert [job.generation for job in one.list(Filter()).jobs] == [2]


def test_a_full_local_disk_never_says_that_nothing_was_pushed(
    open_node: Callable[..., StrictBackend],
) -> None:
    disk = FullDisk(durable=False)
    one, two = open_node("one", disk=disk), open_node("two")
    push(one, "first")
    disk.full = True
    with pytest.raises(OutcomeUnknown):
        push(one, "second")
    assert two.get("second") is not None
    disk.full = False
    assert push(one, "second") == "existing"


def test_a_full_local_disk_never_says_that_nothing_ended(
    open_node: Callable[..., StrictBackend],
) -> None:
    disk = FullDisk(durable=False)
    one = open_node("one", disk=disk)
    one.push([Message.of("mail", "send", id=job_id) for job_id in ("a", "b")])
    jobs = poll(one)
    disk.full = True
    with pytest.raises(OutcomeUnknown):
        one.settle([Settlement.of(job, Verdict.ACK) for job in jobs])
    disk.full = False
    assert [ack(one, job) for job in jobs] == [True, True]
