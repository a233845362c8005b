"""A node dies before or after each request and each file-system call of a verb.

Whoever comes next, on the same machine or on another, finds everything in order. The store of the
enumeration is simulated (`tests.s3.simulated`): each point has one of its own. `-s` prints how many
points there were; FERRYMAN_CRASH_EVERY=1 visits all of them.
"""

from __future__ import annotations

import os
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, Final

import pytest

from ferryman.backends.s3.bucket import Bucket
from ferryman.filter import Filter
from ferryman.ids import new_id
from ferryman.job import JobError, State
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.heartbeat import Beat
from ferryman.queue.open import open_backend
from ferryman.queue.settlement import Settlement
from ferryman.testing.clock import FakeClock
from tests.s3.nodes import Killed, MortalBucket, mortal, mortal_disk, node, relaxed_node
from tests.s3.simulated import SimulatedCalls
from tests.servers.kinds import BUCKET

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ferryman.backends.s3.relaxed import RelaxedBackend
    from ferryman.backends.s3.strict import StrictBackend
    from ferryman.job import Job
    from tests.servers.shared import Server

    Node = StrictBackend | RelaxedBackend

pytestmark = pytest.mark.thorough

LEASE: Final = 60.0
MOST: Final = 60
EVERY: Final = int(os.environ.get("FERRYMAN_CRASH_EVERY", "2"))
QUEUES: Final = {"mail": 5, "pages": 5, "post": 5}


@dataclass
class Life:
    """One node's life up to its death."""

    store: Node
    clock: FakeClock
    job: Job | None = None
    done: bool = False
    calls: int = 0
    requests: int = 0

    def push(self, **options: Any) -> Life:
        self.store.push([Message.of("mail", "send", "body", id="job", **options)])
        return self

    def claim(self) -> Life:
        [self.job] = self.store.poll("mortal", {"mail": 1}, lease=LEASE, turn=1)
        return self

    def settle(self, verdict: Verdict, **report: Any) -> Life:
        assert self.job is not None
        self.store.settle([Settlement.of(self.job, verdict, **report)])
        return self

    def overdue(self) -> None:
        self.push().claim()
        self.clock.advance(LEASE + 1)

    def finish(self) -> Life:
        return self.push().claim().settle(Verdict.ACK)

    def replace(self, queue: str) -> None:
        self.store.push([Message.of(queue, "send", "new", id="job", replace=True)])

    def beat(self) -> None:
        beats = [Beat("job", 1, percent=5, checkpoint="1")]
        self.store.heartbeat("mortal", beats, lease=LEASE)

    def restore(self, state: State) -> None:
        with closing(open_backend("memory://", self.clock)) as other:
            other.push([Message.of("mail", "send", "body", id="job")])
            if state.terminal:
                other.cancel(["job"])
            whole = other.get("job")
        assert whole is not None
        self.store.restore([whole])


CHILD: Final = Message.of("pages", "print", "child", id="child")
ERROR: Final = JobError(1, 0.0, "mortal", "ValueError", "boom")


def nothing(life: Life) -> None:
    pass


def pushed(life: Life) -> None:
    life.push()


def two_pushed(life: Life) -> None:
    life.push().store.push([Message.of("mail", "send", "body", id="second")])


def claimed(life: Life) -> None:
    life.push().claim()


def finished(life: Life) -> None:
    life.finish()


def paused(life: Life) -> None:
    life.push().store.pause(["job"])


# name → what happens before, what the node does when it dies
VERBS: Final[dict[str, tuple[Callable[[Life], object], Callable[[Life], object]]]] = {
    "push": (nothing, lambda life: life.push()),
    "push with a key": (nothing, lambda life: life.push(key="k")),
    "push that replaces": (pushed, lambda life: life.replace("mail")),
    "push that moves": (pushed, lambda life: life.replace("post")),
    "push of a finished id": (finished, lambda life: life.push()),
    "claim": (pushed, lambda life: life.claim()),
    "claim of two": (two_pushed, lambda life: life.store.poll("mortal", {"mail": 2}, lease=LEASE)),
    "heartbeat": (claimed, lambda life: life.beat()),
    "lost poll": (
        claimed,
        lambda life: life.store.heartbeat("mortal", [], lease=LEASE, answered=1),
    ),
    "ack": (
        claimed,
        lambda life: life.settle(Verdict.ACK, children=(CHILD,), result='"done"'),
    ),
    "nack": (claimed, lambda life: life.settle(Verdict.NACK, error=ERROR)),
    "fail": (claimed, lambda life: life.settle(Verdict.FAIL, error=ERROR)),
    "give back": (claimed, lambda life: life.settle(Verdict.GIVE_BACK)),
    "reap": (lambda life: life.overdue(), lambda life: life.store.reap()),
    "cancel": (pushed, lambda life: life.store.cancel(["job"])),
    "cancel of a running one": (claimed, lambda life: life.store.cancel(["job"])),
    "pause": (pushed, lambda life: life.store.pause(["job"])),
    "resume": (paused, lambda life: life.store.resume(["job"])),
    "retry": (finished, lambda life: life.store.retry(["job"])),
    "delete": (pushed, lambda life: life.store.delete(["job"])),
    "delete of a finished one": (finished, lambda life: life.store.delete(["job"])),
    "purge": (pushed, lambda life: life.store.purge("mail")),
    "restore": (nothing, lambda life: life.restore(State.PENDING)),
    "restore of a finished one": (nothing, lambda life: life.restore(State.CANCELLED)),
    "sync": (finished, lambda life: life.store.sync()),
}
MAY_BE_NEW: Final = ("push", "restore")
MAY_BE_GONE: Final = ("delete", "purge")
# On relaxed nodes the rest of the verbs are the file backend's, which has its own enumeration.
CARRIED: Final = ("push", "push that replaces", "claim", "ack", "fail", "retry", "delete", "sync")


@pytest.mark.parametrize("verb", VERBS)
def test_a_node_may_die_at_any_point_and_another_machine_goes_on(verb: str, tmp_path: Path) -> None:
    enumerate_deaths(Strict, verb, tmp_path, "other", start=0)


@pytest.mark.parametrize("verb", VERBS)
def test_a_process_may_die_at_any_point_and_the_next_on_its_machine_goes_on(
    verb: str, tmp_path: Path
) -> None:
    enumerate_deaths(Strict, verb, tmp_path, "mortal", start=EVERY // 2)


@pytest.mark.parametrize("verb", CARRIED)
def test_a_relaxed_process_may_die_at_any_point_and_the_next_goes_on(
    verb: str, tmp_path: Path
) -> None:
    enumerate_deaths(Relaxed, verb, tmp_path, "mortal", start=0)


@pytest.mark.parametrize("verb", ["claim", "ack"])
def test_a_node_that_dies_at_any_request_to_a_real_server_harms_nobody(
    verb: str, ministack: Server, aws_settings: None, tmp_path: Path
) -> None:
    deaths = 0
    for request in count(1):
        assert request < MOST, "the verb never ended"
        done = []
        for after in (False, True):
            bucket = mortal(ministack.address)
            doom = Doom(request=request, after=after)
            world = Strict(tmp_path / f"{request}-{after}", None, ministack.address)
            done.append(live(world, verb, bucket, doom, "other").done)
        deaths += done.count(False)
        if all(done):
            break
    assert deaths >= 2


# -- worlds: one store each


class Strict:
    """A store of its own, with as many nodes as it takes."""

    def __init__(self, folder: Path, calls: SimulatedCalls | None, address: str) -> None:
        self.folder, self.calls, self.address = folder, calls, address
        self.prefix, self.clock = new_id(), FakeClock()

    def open(self, name: str, **mortality: Any) -> Node:
        return node(self.address, self.prefix, self.folder / name, self.clock, **mortality)

    def heir(self, name: str) -> Node:
        if self.calls is None:
            return self.open(name)
        return self.open(name, bucket=Bucket(BUCKET, calls=self.calls))


class Relaxed(Strict):
    def open(self, name: str, **mortality: Any) -> Node:
        return relaxed_node(self.address, self.prefix, self.folder / name, self.clock, **mortality)


@dataclass(frozen=True)
class Doom:
    """Where a node dies: at a file-system call, or before or after a request."""

    call: int | None = None
    request: int | None = None
    after: bool = False


NEVER: Final = Doom()


def enumerate_deaths(
    world: type[Strict], verb: str, folder: Path, heir: str, *, start: int
) -> None:
    def at(doom: Doom, name: str) -> Life:
        calls = SimulatedCalls()
        bucket = MortalBucket(BUCKET, calls=calls)
        return live(world(folder / name, calls, "http://nowhere"), verb, bucket, doom, heir)

    whole = at(NEVER, "whole")
    assert whole.done
    dooms = [Doom(call=number) for number in range(whole.calls)]
    dooms += [
        Doom(request=number + 1, after=after)
        for number in range(whole.requests)
        for after in (False, True)
    ]
    visited = dooms[start::EVERY]
    for number, doom in enumerate(visited):
        try:
            at(doom, str(number))
        except AssertionError as error:
            raise AssertionError(f"{verb}, {doom}: {error}") from error
    print(f"{verb}: {len(dooms)} points, {len(visited)} visited")  # noqa: T201


def live(world: Strict, verb: str, bucket: MortalBucket, doom: Doom, heir: str) -> Life:
    """Let a node die at one point, and others look after it."""
    before, act = VERBS[verb]
    disk = mortal_disk(bucket)
    life = Life(world.open("mortal", bucket=bucket, disk=disk.disk), world.clock)
    with suppress(Killed), closing(life.store):
        before(life)
        disk.arm(doom.call)
        bucket.sent = 0
        if doom.request is not None:
            bucket.doom(doom.request, after=doom.after)
        act(life)
        life.done = True
        life.calls, life.requests = len(disk.seen), bucket.sent
        disk.arm(None)
    with closing(world.heir(heir)) as store:
        world.clock.advance(LEASE + 700)
        inherit(store, world.clock, verb, done=life.done)
    return life


def inherit(heir: Node, clock: FakeClock, verb: str, *, done: bool) -> None:
    """Whoever comes next finds the job once and can bring it to its end."""
    heir.sync()
    heir.reap()
    clock.advance(700)
    job = heir.get("job")
    if job is None and verb.startswith(MAY_BE_GONE):
        assert drain(heir) == []
        return
    if job is None and verb.startswith(MAY_BE_NEW) and not done:
        heir.push([Message.of("mail", "send", "body", id="job")])
        job = heir.get("job")
    assert job is not None, "lost"
    if job.state is State.PAUSED:
        heir.resume(["job"])
    seen = heir.list(Filter()).jobs
    assert sorted(each.id for each in seen) == sorted({each.id for each in seen}), "doubled"
    runs = drain(heir)
    assert len([each for each in runs if each.id == "job"]) == (not job.state.terminal), "stuck"
    ended = heir.get("job")
    assert ended is not None
    assert ended.state.terminal
    if verb == "ack" and (ended.result == '"done"' or done):
        assert len([each for each in runs if each.id == "child"]) == 1
    heir.sync()
    assert drain(heir) == []
    assert heir.list(Filter.parse("state:pending,processing,paused")).jobs == ()


def drain(store: Node) -> Sequence[Job]:
    found: list[Job] = []
    while jobs := store.poll("heir", QUEUES, lease=LEASE):
        found += jobs
        store.settle([Settlement.of(job, Verdict.ACK) for job in jobs])
    return found
