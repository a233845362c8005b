"""The counters behind `snapshot` equal a recount, whatever was done."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from ferryman.backends.sqlite import SqliteBackend, connect
from ferryman.job import State
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.settlement import Settlement
from ferryman.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QUEUES = ("mail", "post")
VERDICTS = [verdict for verdict in Verdict if verdict is not Verdict.EXPIRE]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def backend(tmp_path: Path, clock: FakeClock) -> Iterator[SqliteBackend]:
    backend = connect(f"sqlite:///{tmp_path}/jobs.db?synchronous=normal", clock)
    yield backend
    backend.close()


@pytest.mark.parametrize("seed", range(4))
def test_counters_equal_a_recount_after_random_work(
    backend: SqliteBackend, clock: FakeClock, seed: int
) -> None:
    work = Work(backend, clock, random.Random(seed))
    for _ in range(150):
        work.step()
        assert counted(backend, clock) == recounted(backend, clock)


def test_counters_of_queues_that_are_gone_are_forgotten(
    backend: SqliteBackend, clock: FakeClock
) -> None:
    backend.push([Message.of(f"user {n}", "send") for n in range(100)])
    for n in range(100):
        assert backend.purge(f"user {n}") == 1
    backend.prune(older_than=86_400)
    assert rows(backend, "SELECT count(*) FROM counts") == [(0,)]
    assert backend.snapshot().queues == {}


def test_nothing_of_a_forgotten_job_stays_behind(backend: SqliteBackend, clock: FakeClock) -> None:
    work = Work(backend, clock, random.Random(7))
    for _ in range(150):
        work.step()
    clock.advance(100_000)
    backend.reap()
    for queue in QUEUES:
        backend.purge(queue)
    clock.advance(86_401)
    backend.prune(older_than=86_400)
    left = {state for (state,) in rows(backend, "SELECT DISTINCT state FROM jobs")}
    assert left <= {State.PROCESSING}
    for table in ("errors", "logs", "meta"):
        orphans = f"SELECT * FROM {table} WHERE seq NOT IN (SELECT seq FROM jobs)"  # noqa: S608
        assert rows(backend, orphans) == []


class Work:
    """One random act of a producer, a worker or an operator at a time."""

    def __init__(self, backend: SqliteBackend, clock: FakeClock, dice: random.Random) -> None:
        self.backend, self.clock, self.dice = backend, clock, dice
        self.ids: list[str] = []
        self.acts = (
            *(self.push, self.poll, self.settle) * 3,
            self.heartbeat,
            self.operate,
            self.time,
            self.forget,
        )

    def step(self) -> None:
        self.dice.choice(self.acts)()

    def push(self) -> None:
        pushed = self.backend.push([self.message() for _ in range(self.dice.randint(1, 6))])
        self.ids += [one.id for one in pushed]

    def message(self) -> Message:
        return Message.of(
            self.dice.choice(QUEUES),
            "send",
            self.dice.randint(0, 3),
            id=f"job {self.dice.randint(0, 400)}",
            delay=self.dice.choice([0, 0, 30]),
            expires=self.dice.choice([None, None, 50]),
            key=self.dice.choice([None, None, "a", "b"]),
            unique=self.dice.choice(["waiting", "unfinished", "replace", 20.0]),
            replace=self.dice.random() < 0.2,
            max_attempts=self.dice.randint(1, 3),
            meta=self.dice.choice([{}, {"user": "1", "campaign": "x"}]),
        )

    def poll(self) -> None:
        limits = {queue: self.dice.randint(0, 4) for queue in QUEUES}
        self.backend.poll("w", limits, lease=40, turn=self.dice.randint(0, 3))

    def settle(self) -> None:
        sql = "SELECT id, fence, worker, queue FROM jobs WHERE state = 'processing' LIMIT 6"
        self.backend.settle(
            [
                Settlement(
                    job_id,
                    fence,
                    worker,
                    queue,
                    self.dice.choice(VERDICTS),
                    children=(self.message(),),
                )
                for job_id, fence, worker, queue in rows(self.backend, sql)
            ]
        )

    def heartbeat(self) -> None:
        self.backend.heartbeat("w", [], lease=40, answered=self.dice.randint(-1, 2))

    def operate(self) -> None:
        verb = self.dice.choice(["cancel", "pause", "resume", "retry", "delete"])
        some = self.dice.sample(self.ids, min(4, len(self.ids)))
        getattr(self.backend, verb)(some)

    def time(self) -> None:
        self.clock.advance(self.dice.choice([1, 15, 60]))
        self.backend.reap(limit=self.dice.choice([2, 1_000]))

    def forget(self) -> None:
        if self.dice.random() < 0.3:
            self.backend.purge(self.dice.choice(QUEUES))
        else:
            self.clock.advance(self.dice.choice([0, 90_000]))
            self.backend.prune(older_than=86_400, limit=3, keep=self.dice.choice([None, 2]))


def counted(backend: SqliteBackend, clock: FakeClock) -> Counter[tuple[str, str]]:
    found = Counter[tuple[str, str]]()
    for queue, counts in backend.snapshot().queues.items():
        found.update({(queue, state.value): n for state, n in counts.states.items()})
        found[queue, "scheduled"] = counts.scheduled
    return +found


def recounted(backend: SqliteBackend, clock: FakeClock) -> Counter[tuple[str, str]]:
    found = Counter[tuple[str, str]]()
    for queue, state, ready_at in rows(backend, "SELECT queue, state, ready_at FROM jobs"):
        found[queue, state] += 1
        if state == State.PENDING and ready_at > clock.now():
            found[queue, "scheduled"] += 1
    return found


def rows(backend: SqliteBackend, sql: str) -> list[Any]:
    with backend._database.reading() as connection:
        return connection.execute(sql).fetchall()
