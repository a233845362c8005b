"""What is announced to those who wait, by pushes that end with somebody else's commit."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from ferryman.backends.postgresql import PostgresqlBackend, announcer, connect
from ferryman.backends.postgresql.push import push
from ferryman.clock import SystemClock
from ferryman.job import State
from ferryman.testing.conformance.given import (
    a_message,
    ack,
    claimed,
    give_back,
    pushed,
    several,
    the_job,
)
from tests.servers.postgres_fixtures import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ferryman.backends.postgresql.transaction import Transaction

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


def of_a_known_id(backend: PostgresqlBackend) -> None:
    assert not backend.push([a_message(id="known")])[0].created


def that_fails_at_its_commit(backend: PostgresqlBackend) -> None:
    def act(tx: Transaction) -> None:
        push(tx, [a_message()])
        tx.execute("CREATE TEMP TABLE once (n integer UNIQUE DEFERRABLE INITIALLY DEFERRED)")
        tx.execute("INSERT INTO once VALUES (1), (1)")

    with pytest.raises(psycopg.errors.UniqueViolation):
        backend._database.transact(act)


@pytest.mark.parametrize("pushing", [of_a_known_id, that_fails_at_its_commit])
def test_a_push_that_makes_no_job_leaves_no_other_unannounced(
    backend: PostgresqlBackend,
    postgres: str,
    monkeypatch: pytest.MonkeyPatch,
    pushing: Callable[[PostgresqlBackend], None],
) -> None:
    monkeypatch.setattr(announcer, "INTERVAL", 30.0)
    pushed(backend, id="known")
    with listening(postgres) as announced:
        pushed(backend)  # too soon after the first to be announced by itself
        monkeypatch.setattr(announcer, "INTERVAL", 0.0)
        pushing(backend)
        backend.close()
    assert announced == [""]


def as_a_child(backend: PostgresqlBackend) -> object:
    parent = claimed(backend, queue="parents")
    return lambda: backend.settle([ack(parent, children=[a_message()])])


def as_a_whole_job(backend: PostgresqlBackend) -> object:
    job = the_job(backend, pushed(backend, queue="parents"))
    return lambda: backend.restore([replace(job, id="another", queue="mail")])


def resumed(backend: PostgresqlBackend) -> object:
    job = replace(the_job(backend, pushed(backend, queue="parents")), state=State.PAUSED)
    backend.restore([replace(job, id="another", queue="mail")])
    return lambda: backend.resume(["another"])


def given_back(backend: PostgresqlBackend) -> object:
    job = claimed(backend, queue="parents")
    return lambda: backend.settle([give_back(job)])


COMING: list[Any] = [
    lambda backend: lambda: pushed(backend),
    lambda backend: lambda: pushed(backend, tenant="ana"),
    lambda backend: lambda: pushed(backend, key="ana"),
    lambda backend: lambda: several(backend, 3),
    lambda backend: lambda: several(backend, 40),
    lambda backend: lambda: backend.resume_queue("mail"),
    as_a_child,
    as_a_whole_job,
    resumed,
    given_back,
]


@pytest.mark.parametrize("coming", COMING)
def test_a_job_is_announced_however_it_comes(
    backend: PostgresqlBackend, postgres: str, coming: Any
) -> None:
    come = coming(backend)
    with listening(postgres) as announced:
        come()
        backend.close()
    assert announced


def test_a_job_that_is_not_due_names_no_queue_in_which_there_is_something_to_claim(
    backend: PostgresqlBackend, postgres: str
) -> None:
    with listening(postgres) as announced:
        pushed(backend, delay=600)
        pushed(backend, queue="post")
    assert announced == ["", "post"]


@pytest.mark.parametrize("options", [{"id": "x", "replace": True}, {"unique": "replace"}])
def test_a_replacement_is_announced_for_it_may_be_due_earlier(
    backend: PostgresqlBackend, postgres: str, options: dict[str, Any]
) -> None:
    pushed(backend, "old", id="x", key="ana", delay=600)
    with listening(postgres) as announced:
        [answer] = backend.push([a_message("new", key="ana", **options)])
        backend.close()
    assert answer.status == "replaced"
    assert announced


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
