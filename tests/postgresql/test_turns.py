"""The turn of a queue, from which a tenant that comes to it begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from ferryman.testing.conformance.given import a_message, claims, give_back, pushed, several
from tests.servers.postgres_fixtures import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.backends.postgresql import PostgresqlBackend

    Theirs = psycopg.Connection[tuple[object, ...]]


def test_a_job_that_is_claimed_again_takes_the_turn_not_back(backend: PostgresqlBackend) -> None:
    *_, last = several(backend, 4, tenant="ana")
    first, *_ = claims(backend, 3)
    backend.settle([give_back(first)])
    assert [job.id for job in claims(backend, 1)] == [first.id]
    newcomer = pushed(backend, tenant="bob")
    assert [job.id for job in claims(backend)] == [last, newcomer]


@pytest.fixture
def callers(postgres: str, backend: PostgresqlBackend) -> Iterator[tuple[Theirs, Theirs]]:
    """Two who push inside transactions of their own, and wait for nobody."""
    url = f"{postgres}?options=-clock_timeout%3D1s"
    with psycopg.connect(url) as one, psycopg.connect(url) as other:
        yield one, other
        one.rollback()
        other.rollback()


def test_the_first_job_of_a_tenant_that_is_not_committed_keeps_no_other_waiting(
    backend: PostgresqlBackend, callers: tuple[Theirs, Theirs]
) -> None:
    one, other = callers
    backend.push([a_message(tenant="ana")], connection=one)
    backend.push([a_message(tenant="bob")], connection=other)
    backend.push([a_message(number, tenant="bob") for number in range(40)], connection=other)
    other.commit()
    assert {job.tenant for job in claims(backend)} == {"bob"}


def test_tenants_take_turns_in_a_queue_that_two_have_made(
    backend: PostgresqlBackend, callers: tuple[Theirs, Theirs], postgres_admin: Theirs
) -> None:
    for caller, tenant in zip(callers, ("ana", "bob"), strict=True):
        backend.push([a_message(tenant=tenant) for _ in range(3)], connection=caller)
    for caller in callers:
        caller.commit()
    listed = f"SELECT FROM {SCHEMA}.tenant_queues WHERE queue = 'mail'"
    assert postgres_admin.execute(listed).rowcount == 2
    first = claims(backend, 4)
    assert [job.tenant for job in first] == ["ana", "bob"] * 2
    pushed(backend, tenant="eve")
    assert [job.tenant for job in claims(backend)] == ["ana", "bob", "eve"]
    pushed(backend, tenant="ana")
    assert postgres_admin.execute(listed).rowcount == 2


def test_two_callers_who_come_to_new_queues_in_opposite_order_do_not_wait(
    backend: PostgresqlBackend, callers: tuple[Theirs, Theirs]
) -> None:
    for queues in (("mail", "post"), ("post", "mail")):
        for caller, queue in zip(callers, queues, strict=True):
            backend.push([a_message(queue=queue, tenant="ana")], connection=caller)
    for caller in callers:
        caller.commit()
    assert [len(claims(backend, queue=queue)) for queue in ("mail", "post")] == [2, 2]
