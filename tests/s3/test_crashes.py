"""A node dies before or after each request of a verb; another node finds everything in order."""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from ferryman.filter import Filter
from ferryman.ids import new_id
from ferryman.job import JobError, State
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.settlement import Settlement
from ferryman.testing.clock import FakeClock
from tests.s3.nodes import Killed, mortal, node

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ferryman.backends.s3.strict import StrictBackend
    from ferryman.job import Job
    from tests.servers.shared import Server

LEASE = 60.0
MOST = 60


@dataclass
class Life:
    """One node's life up to its death."""

    store: StrictBackend
    clock: FakeClock
    job: Job | None = None
    done: bool = False
    facts: dict[str, Any] = field(default_factory=dict)

    def push(self, **options: Any) -> Life:
        self.store.push([Message.of("mail", "send", "body", id="job", **options)])
        return self

    def claim(self) -> Job:
        [self.job] = self.store.poll("mortal", {"mail": 1}, lease=LEASE)
        return self.job

    def settle(self, verdict: Verdict, **report: Any) -> None:
        assert self.job is not None
        self.store.settle([Settlement.of(self.job, verdict, **report)])

    def overdue(self) -> None:
        self.claim()
        self.clock.advance(LEASE + 1)

    def finish(self) -> None:
        self.push()
        self.claim()
        self.settle(Verdict.ACK)


CHILD = Message.of("pages", "print", "child", id="child")
ERROR = JobError(1, 0.0, "mortal", "ValueError", "boom")

# name → what happens before, what the node does when it dies
VERBS: dict[str, tuple[Callable[[Life], object], Callable[[Life], object]]] = {
    "push": (lambda life: None, lambda life: life.push()),
    "push with a key": (lambda life: None, lambda life: life.push(key="k")),
    "push that replaces": (
        lambda life: life.push(),
        lambda life: life.store.push([Message.of("mail", "send", "new", id="job", replace=True)]),
    ),
    "push that moves": (
        lambda life: life.push(),
        lambda life: life.store.push([Message.of("post", "send", "new", id="job", replace=True)]),
    ),
    "push of a finished id": (lambda life: life.finish(), lambda life: life.push()),
    "claim": (lambda life: life.push(), lambda life: life.claim()),
    "ack": (
        lambda life: life.push().claim(),
        lambda life: life.settle(Verdict.ACK, children=(CHILD,), result='"done"'),
    ),
    "nack": (
        lambda life: life.push().claim(),
        lambda life: life.settle(Verdict.NACK, error=ERROR),
    ),
    "fail": (
        lambda life: life.push().claim(),
        lambda life: life.settle(Verdict.FAIL, error=ERROR),
    ),
    "reap": (
        lambda life: life.push().overdue(),
        lambda life: life.store.reap(),
    ),
    "retry": (lambda life: life.finish(), lambda life: life.store.retry(["job"])),
    "cancel": (lambda life: life.push(), lambda life: life.store.cancel(["job"])),
    "sync": (lambda life: life.finish(), lambda life: life.store.sync()),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_node_that_dies_at_any_request_loses_doubles_and_blocks_nothing(
    verb: str, ministack: Server, aws_settings: None, tmp_path: Path
) -> None:
    deaths = 0
    for request in count(1):
        assert request < MOST, "the verb never ended"
        lives = [
            live(verb, ministack, tmp_path / f"{request}-{after}", request, after=after)
            for after in (False, True)
        ]
        deaths += sum(not done for done in lives)
        if all(lives):
            break
    assert deaths >= 2


def live(verb: str, server: Server, folder: Path, request: int, *, after: bool) -> bool:
    """Let a node die at one request, and another one look after it; whether the verb was done."""
    prefix, clock = new_id(), FakeClock()
    bucket = mortal(server.address)
    before, act = VERBS[verb]
    store = node(server.address, prefix, folder / "mortal", clock, bucket)
    life = Life(store, clock)
    with closing(store), suppress(Killed):
        before(life)
        bucket.doom(request, after=after)
        act(life)
        life.done = True
    with closing(node(server.address, prefix, folder / "heir", clock)) as heir:
        clock.advance(LEASE + 700)
        inherit(heir, clock, verb, done=life.done)
    return life.done


def inherit(heir: StrictBackend, clock: FakeClock, verb: str, *, done: bool) -> None:
    """The other node finds the job once and can bring it to its end."""
    heir.sync()
    heir.reap()
    clock.advance(700)
    job = heir.get("job")
    if verb.startswith("push") and not done and job is None:
        heir.push([Message.of("mail", "send", "body", id="job")])
        job = heir.get("job")
    assert job is not None, "lost"
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
    counts = heir.snapshot()
    assert counts.count(State.PENDING) + counts.count(State.PROCESSING) == 0


def drain(store: StrictBackend) -> list[Job]:
    found: list[Job] = []
    while jobs := store.poll("heir", {"mail": 5, "pages": 5, "post": 5}, lease=LEASE):
        found += jobs
        store.settle([Settlement.of(job, Verdict.ACK) for job in jobs])
    return found
