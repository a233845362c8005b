"""kill -9 at any moment: what was acknowledged is there, and nothing is in two states."""

from __future__ import annotations

import json
import os
import random
import secrets
import sys
import time
from collections import defaultdict
from contextlib import contextmanager
from signal import SIGKILL
from typing import TYPE_CHECKING

import pytest

from ferryman.filter import Filter
from ferryman.job import State
from ferryman.queue.open import open_backend
from ferryman.testing.clock import FakeClock
from ferryman.testing.conformance.given import claims, pushed, state_of, the_job
from ferryman.testing.conformance.mortal import LEASE
from ferryman.testing.conformance.rivals import start
from ferryman.testing.conformance.snapshot import counted, recount
from ferryman.testing.conformance.store import Store, needs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.queue.contract import Backend


Facts = defaultdict[str, set[str]]


class Crash(Store):
    @pytest.fixture
    def mortals(self, backend: Backend, url: str) -> str:
        """The address of a store that processes can share and that outlives them."""
        needs(backend, "durable")
        needs(backend, "shared")
        return url

    def test_promise_1_nothing_acknowledged_is_lost_when_processes_are_killed(
        self, mortals: str
    ) -> None:
        chance = random.Random(seed())  # noqa: S311
        facts: Facts = defaultdict(set)
        for number in range(self.kills):
            work_and_be_killed(mortals, f"mortal-{number}", chance, facts)
            with reopened(mortals) as (store, _):
                assert_all_survived(store, facts)
                assert_nothing_is_in_two_states(store)

    def test_leases_of_a_killed_process_are_recovered_by_reap(self, mortals: str) -> None:
        facts: Facts = defaultdict(set)
        work_and_be_killed(mortals, "mortal", random.Random(seed()), facts)  # noqa: S311
        with reopened(mortals) as (store, clock):
            held = ids_in(store, State.PROCESSING)
            assert facts["claimed"] <= held
            assert list(store.reap()) == []
            clock.advance(LEASE)
            assert {(lease.id, lease.worker) for lease in store.reap()} == {
                (job_id, "mortal") for job_id in held
            }
            clock.advance(10)
            assert held <= {job.id for job in claims(store, 100_000, worker="next")}

    def test_a_killed_process_leaves_nobody_locked_out(self, mortals: str) -> None:
        facts: Facts = defaultdict(set)
        work_and_be_killed(mortals, "mortal", random.Random(seed()), facts)  # noqa: S311
        before = time.monotonic()
        with reopened(mortals) as (store, _):
            job_id = pushed(store, queue="afterwards")
            assert [job.id for job in claims(store, queue="afterwards")] == [job_id]
        assert time.monotonic() - before < 3


@contextmanager
def reopened(url: str) -> Iterator[tuple[Backend, FakeClock]]:
    """The store as a later process finds it, on a clock that can outlast a lease."""
    clock = FakeClock(time.time() + 1)
    store = open_backend(url, clock)
    try:
        yield store, clock
    finally:
        store.close()


def seed() -> int:
    """The seed of this run, told on standard error; FERRYMAN_CRASH_SEED repeats one."""
    number = int(os.environ.get("FERRYMAN_CRASH_SEED") or secrets.randbits(32))
    sys.stderr.write(f"FERRYMAN_CRASH_SEED={number}\n")
    return number


def work_and_be_killed(url: str, name: str, chance: random.Random, facts: Facts) -> None:
    """Let another process work, kill it at a random moment, and add what it said to `facts`."""
    with start("mortal.py", url, name) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(chance.randint(1, 60))]
        # Between two facts lies a transaction: die anywhere inside it.
        time.sleep(chance.uniform(0, 0.004))
        process.kill()
        lines += process.stdout.readlines()
    assert process.returncode == -SIGKILL, "the process died by itself, see its error output"
    for line in lines:
        if line.endswith("\n"):
            fact, *ids = json.loads(line)
            facts[fact].update(ids)


def assert_all_survived(store: Backend, facts: Facts) -> None:
    for job_id in facts["pushed"]:
        assert store.get(job_id) is not None, f"{job_id} was acknowledged and is lost"
    for job_id in facts["acked"]:
        assert (state_of(store, job_id), the_job(store, job_id).result) == ("completed", '"done"')
        assert state_of(store, f"child of {job_id}") is State.PENDING
    for job_id in facts["nacked"]:
        assert the_job(store, job_id).errors


def assert_nothing_is_in_two_states(store: Backend) -> None:
    everything = [job.id for job in store.list(Filter(), limit=100_000).jobs]
    by_state = [job_id for state in State for job_id in ids_in(store, state)]
    assert len(everything) == len(set(everything))
    assert sorted(by_state) == sorted(everything)
    assert counted(store) == recount(store)


def ids_in(store: Backend, state: State) -> set[str]:
    return {job.id for job in store.list(Filter.parse(f"state:{state}"), limit=100_000).jobs}
