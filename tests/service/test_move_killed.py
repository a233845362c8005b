"""A move that dies at any of its steps, or is killed with SIGKILL, and is run again."""

from __future__ import annotations

import random
import secrets
import subprocess
import sys
from contextlib import closing, suppress
from signal import SIGKILL
from typing import TYPE_CHECKING, Any, cast

import pytest

from ferryman.backends.memory import MemoryBackend
from ferryman.filter import Filter
from ferryman.job import State
from ferryman.queue.open import open_backend
from ferryman.service.move import move, moving
from ferryman.testing.conformance.cargo import ALL, assert_moved, populate, whole
from ferryman.testing.conformance.given import QUEUE, ack, claims, in_state, pushed, settle
from tests.service.shores import PAIRS, two_urls

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ferryman.queue.contract import Backend
    from ferryman.testing import FakeClock

pytestmark = pytest.mark.thorough


class Killed(BaseException):
    """The process is no more: nothing that comes after reaches a store."""


class Life:
    """Calls that a process still has; the last one happens, or just does not."""

    def __init__(self, calls: int, *, last_happens: bool) -> None:
        self.left = calls
        self.last_happens = last_happens

    def spend(self) -> bool:
        """Whether this call happens."""
        self.left -= 1
        return self.left > 0 or (self.left == 0 and self.last_happens)


class Mortal:
    """A store as a process sees it that will be killed."""

    def __init__(self, store: Backend, life: Life) -> None:
        self._store = store
        self._life = life

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._store, name)

        def last(*args: Any, **options: Any) -> Any:
            answer = call(*args, **options) if self._life.spend() else None
            if self._life.left <= 0:
                raise Killed
            return answer

        return last if callable(call) else call


def move_until_killed(source: Backend, target: Backend, life: Life, where: Filter = ALL) -> bool:
    """Whether the end came before the move was through."""
    one, other = (cast("Backend", Mortal(store, life)) for store in (source, target))
    try:
        move(one, other, where)
    except Killed:
        return True
    return False


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving, "PAGE", 4)


def deaths(*, last_happens: bool) -> Iterator[Life]:
    for calls in range(1, 10_000):
        yield Life(calls, last_happens=last_happens)


@pytest.mark.parametrize("last_happens", [False, True])
def test_killed_at_any_call_and_run_again_nothing_is_lost_or_doubled(
    clock: FakeClock, last_happens: bool
) -> None:
    for life in deaths(last_happens=last_happens):
        source, target = MemoryBackend(clock), MemoryBackend(clock)
        populate(source)
        source.pause_queue("post")
        before = whole(source)
        killed = move_until_killed(source, target, life)
        assert whole(source).keys() | whole(target).keys() == before.keys()
        assert_only_one_can_run_it(source, target)
        move(source, target, ALL)
        assert_moved(before, source, target)
        paused = [name for name, counts in source.snapshot().queues.items() if counts.paused]
        assert paused == ["post"]
        if not killed:
            break


def assert_only_one_can_run_it(source: Backend, target: Backend) -> None:
    there = whole(target)
    both = [(job, there[job.id]) for job in whole(source).values() if job.id in there]
    active = (State.PENDING, State.PROCESSING)
    assert [one.id for one, other in both if one.state in active and other.state in active] == []


@pytest.mark.parametrize("last_happens", [False, True])
def test_workers_that_go_on_after_the_kill_run_each_job_once(
    clock: FakeClock, last_happens: bool
) -> None:
    """Someone resumes the queue instead of running the move again, and does that only later."""
    for life in deaths(last_happens=last_happens):
        source, target = MemoryBackend(clock), MemoryBackend(clock)
        ids = [pushed(source, number) for number in range(9)]
        killed = move_until_killed(source, target, life)
        source.resume_queue(QUEUE)
        ran = work(source) + work(target)
        move(source, target, ALL)
        ran += work(target)
        assert sorted(ran) == sorted(ids)
        assert {job.state for job in whole(target).values()} == {State.COMPLETED}
        assert (list(whole(target)), list(whole(source))) == (ids, []) or killed
        if not killed:
            break


def work(store: Backend) -> list[str]:
    jobs = claims(store)
    for job in jobs:
        assert settle(store, ack(job)).applied
    return [job.id for job in jobs]


def test_a_retry_between_the_kill_and_the_next_run_is_not_lost(clock: FakeClock) -> None:
    for life in deaths(last_happens=True):
        source, target = MemoryBackend(clock), MemoryBackend(clock)
        failed = [in_state(source, State.FAILED) for _ in range(6)]
        killed = move_until_killed(source, target, life)
        retried = {end.id for end in source.retry(failed) if end.refused is None}
        move(source, target, ALL)
        generations = {job.id: job.generation for job in whole(target).values()}
        assert generations == {job_id: 2 if job_id in retried else 1 for job_id in failed}
        if not killed:
            break


def test_another_filter_the_next_time_still_ends_the_page_that_was_cut_off(
    clock: FakeClock,
) -> None:
    for life in deaths(last_happens=True):
        source, target = MemoryBackend(clock), MemoryBackend(clock)
        ids = [pushed(source, number) for number in range(6)]
        killed = move_until_killed(source, target, life)
        move(source, target, Filter.parse("queue:none-of-these"))
        assert sorted([*whole(source), *whole(target)]) == sorted(ids)
        assert {job.state for job in whole(target).values()} <= {State.PENDING}
        assert not any(counts.paused for counts in source.snapshot().queues.values())
        if not killed:
            break


SHARED = [pair for pair in PAIRS if "memory" not in pair]


@pytest.mark.parametrize("kinds", SHARED, ids="-to-".join)
def test_killed_with_sigkill_at_random_and_run_until_it_is_through(
    tmp_path: Path, kinds: tuple[str, str]
) -> None:
    chance = random.Random(secrets.randbits(32))
    urls = two_urls(kinds, tmp_path)
    with closing(open_backend(urls[0])) as source, closing(open_backend(urls[1])) as target:
        populate(source, rounds=20)
        before = whole(source)
        kills = 0
        while not run_and_kill(urls, patience=chance.uniform(0.0, 0.05 + kills / 50)):
            kills += 1
            assert whole(source).keys() | whole(target).keys() == before.keys()
            assert_only_one_can_run_it(source, target)
        assert kills, "a move that is through at once proves nothing"
        assert_moved(before, source, target)
        assert not any(counts.paused for counts in source.snapshot().queues.values())


PROGRAM = """
import sys
from ferryman.filter import Filter
from ferryman.queue.open import open_backend
from ferryman.service.move import move, moving

moving.PAGE = 10
source, target = map(open_backend, sys.argv[1:])
print("ready", flush=True)
left = move(source, target, Filter()).left
assert not left, left
"""


def run_and_kill(urls: list[str], patience: float) -> bool:
    """Whether the move ended within so many seconds of its start; else it is killed."""
    words = [sys.executable, "-c", PROGRAM, *urls]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            with suppress(subprocess.TimeoutExpired):
                process.wait(patience)
        finally:
            process.kill()
        code = process.wait()
    assert code in (0, -SIGKILL), f"the move ended with {code}"
    return code == 0
