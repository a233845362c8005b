"""A server on loopback with a store of its own, and visitors for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from ferryman import Ferry
from ferryman.service.api_keys import ApiKeys
from ferryman.testing import FakeClock
from ferryman.web import asgi
from ferryman.web.server import Server
from tests.web.client import Client

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.service.roles import Role

TOKEN = "a-token-that-only-the-tests-know-0123456789"  # noqa: S105


class Visitors(Protocol):
    """A client with a fresh key of this role, confined to these queues if any are named."""

    def __call__(self, role: Role, *queues: str) -> Client: ...


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search may take as long as a busy machine needs for it."""
    monkeypatch.setattr("ferryman.service.search.BUDGET", 600.0)


@pytest.fixture
def clock() -> FakeClock:
    """Stands still: ages, limits and what a server remembers do not depend on the machine."""
    return FakeClock()


@pytest.fixture
def ferry(clock: FakeClock) -> Iterator[Ferry]:
    with Ferry("memory://", clock=clock) as ferry:
        yield ferry


@pytest.fixture
def server(ferry: Ferry) -> Iterator[Server]:
    with Server(asgi(ferry, token=TOKEN, rate=10_000.0), "127.0.0.1", 0) as server:
        yield server


@pytest.fixture
def stranger(server: Server) -> Client:
    return Client(server.port)


@pytest.fixture
def admin(stranger: Client) -> Client:
    return stranger.using(Authorization=f"Bearer {TOKEN}")


@pytest.fixture
def visitor(ferry: Ferry, stranger: Client) -> Visitors:
    def make(role: Role, *queues: str) -> Client:
        _, text = ApiKeys(ferry.backend).create(f"a {role}", role, queues=queues or None)
        return stranger.using(Authorization=f"Bearer {text}")

    return make
