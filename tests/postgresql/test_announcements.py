"""What is announced to those who wait, by pushes that end with somebody else's commit."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import psycopg
import pytest

from ferryman.backends.postgresql import PostgresqlBackend, connect
from ferryman.clock import SystemClock
from ferryman.testing.conformance.given import a_message, pushed
from tests.servers.postgres_fixtures import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterator

PUSH = f"SELECT {SCHEMA}.push(%s, 'send')"
END = "that is all"


@contextmanager
def listening(url: str) -> Iterator[list[str]]:
    """What is announced inside the block; it is there when the block has ended."""
    announced: list[str] = []
    with psycopg.connect(url, autocommit=True) as ear:
        ear.execute(f"LISTEN ferryman_{SCHEMA}")
        yield announced
        # Announcements arrive in the order of their commits.
        ear.execute(f"SELECT pg_notify('ferryman_{SCHEMA}', '{END}')")
        for notice in ear.notifies(timeout=10):
            if notice.payload == END:
                return
            announced.append(notice.payload)
    pytest.fail("the last announcement did not arrive")


def test_a_transaction_is_announced_once_for_each_queue(
    backend: PostgresqlBackend, postgres: str
) -> None:
    with listening(postgres) as announced, psycopg.connect(postgres) as theirs:
        for queue in ("mail", "post", "mail", "mail"):
            theirs.execute(PUSH, (queue,))
        theirs.commit()
    assert sorted(announced) == ["mail", "post"]


def test_every_commit_of_others_is_announced_for_nobody_else_would(
    backend: PostgresqlBackend, postgres: str
) -> None:
    with (
        listening(postgres) as announced,
        psycopg.connect(postgres, autocommit=True) as theirs,
    ):
        for _ in range(5):
            theirs.execute(PUSH, ("mail",))
    assert announced == ["mail"] * 5


def test_a_push_inside_a_transaction_is_announced_by_its_commit(
    backend: PostgresqlBackend, postgres: str
) -> None:
    with listening(postgres) as announced, psycopg.connect(postgres) as theirs:
        for _ in range(5):
            backend.push([a_message()], connection=theirs)
        theirs.rollback()
        backend.push([a_message(), a_message(queue="post")], connection=theirs)
        backend.push([a_message()], connection=theirs)
        theirs.commit()
    # Not by name: all look.
    assert announced == [""]


def test_who_does_not_listen_is_heard_nevertheless(postgres_url: str, postgres: str) -> None:
    with (
        listening(postgres) as announced,
        closing(connect(f"{postgres_url}&listen=no", SystemClock())) as quiet,
    ):
        pushed(quiet)
    assert announced == ["mail"]
