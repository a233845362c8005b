"""The turn of a queue, from which a tenant that comes to it begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.testing.conformance.given import claims, give_back, pushed, several

if TYPE_CHECKING:
    from ferryman.backends.postgresql import PostgresqlBackend


def test_a_job_that_is_claimed_again_takes_the_turn_not_back(backend: PostgresqlBackend) -> None:
    *_, last = several(backend, 4, tenant="ana")
    first, *_ = claims(backend, 3)
    backend.settle([give_back(first)])
    assert [job.id for job in claims(backend, 1)] == [first.id]
    newcomer = pushed(backend, tenant="bob")
    assert [job.id for job in claims(backend)] == [last, newcomer]
