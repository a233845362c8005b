"""The longest keys in the longest queues: an index holds both, and nothing of theirs is packed."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from ferryman.job import State
from ferryman.message import MAX_KEY_BYTES, MAX_NAME
from ferryman.testing.conformance.given import (
    a_message,
    ack,
    claim,
    fail,
    pushed,
    settle,
    state_of,
)
from tests.servers.postgres_fixtures import SCHEMA

if TYPE_CHECKING:
    import psycopg

    from ferryman.backends.postgresql import PostgresqlBackend

    Admin = psycopg.Connection[tuple[object, ...]]


def incompressible(length: int, seed: int) -> str:
    """A text of characters of four bytes: the server packs what repeats itself."""
    chance = random.Random(seed)
    return "".join(chr(chance.randrange(0x20000, 0x2A6DF)) for _ in range(length))


QUEUE = incompressible(MAX_NAME, 1)
KEY = incompressible(MAX_KEY_BYTES // 4, 2)


def test_the_longest_key_of_the_longest_queue_lives_a_whole_life(
    backend: PostgresqlBackend,
) -> None:
    job_id = pushed(backend, queue=QUEUE, key=KEY)
    [again] = backend.push([a_message(queue=QUEUE, key=KEY)])
    assert (again.id, again.created) == (job_id, False)
    settle(backend, fail(claim(backend, queue=QUEUE)))
    assert state_of(backend, job_id) is State.FAILED
    backend.retry([job_id])
    settle(backend, ack(claim(backend, queue=QUEUE)))
    assert state_of(backend, job_id) is State.COMPLETED
    other = pushed(backend, queue=QUEUE, key=KEY)
    backend.cancel([other])
    assert state_of(backend, other) is State.CANCELLED


@pytest.mark.parametrize("count", [1, 40])
def test_the_longest_names_of_all_go_together(backend: PostgresqlBackend, count: int) -> None:
    names = {"tenant": incompressible(MAX_NAME, 3), "correlation_id": incompressible(512, 4)}
    batch = [
        a_message(queue=QUEUE, task=QUEUE, key=f"{number}", **names) for number in range(count)
    ]
    assert all(answer.created for answer in backend.push(batch))


def test_the_longest_key_can_be_pushed_in_sql(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    push = f"SELECT created FROM {SCHEMA}.push(%s, 'send', key => %s)"  # noqa: S608
    assert postgres_admin.execute(push, (QUEUE, KEY)).fetchone() == (True,)
    assert claim(backend, queue=QUEUE).key == KEY
