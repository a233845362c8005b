"""Random verb sequences through the PostgreSQL backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.queue.open import open_backend
from ferryman.testing.machine import check_backend
from tests.servers.postgres_fixtures import sweep

if TYPE_CHECKING:
    import psycopg

    from ferryman.clock import Clock
    from ferryman.queue.contract import Backend


def test_every_answer_of_the_postgresql_backend_is_allowed_by_the_contract(
    postgres_url: str, postgres_admin: psycopg.Connection[tuple[object, ...]]
) -> None:
    def make(clock: Clock) -> Backend:
        sweep(postgres_admin)
        return open_backend(postgres_url, clock)

    check_backend(make, examples=40)
