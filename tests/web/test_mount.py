"""The application inside another one, under a path of its choice."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from ferryman.testing import wait_until
from ferryman.web import asgi
from tests.web.client import Client, part
from tests.web.conftest import TOKEN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import Request

    from ferryman import Ferry


async def home(request: Request) -> PlainTextResponse:
    return PlainTextResponse("home")


@pytest.fixture
def host(ferry: Ferry) -> Iterator[Client]:
    routes = [Mount("/ops/queue", asgi(ferry, token=TOKEN)), Route("/", home)]
    config = uvicorn.Config(Starlette(routes=routes), port=0, log_config=None, lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    yield Client(server.servers[0].sockets[0].getsockname()[1])
    server.should_exit = True
    thread.join(10)


def test_a_mounted_server_reads_acts_and_logs_in_under_its_path(host: Client, ferry: Ferry) -> None:
    mounted = Client(host.port, {"Authorization": f"Bearer {TOKEN}"}, "/ops/queue")
    made = mounted.post("/v1/jobs", {"task": "send", "id": "24/7"})
    assert made.headers["location"] == f"/ops/queue/v1/jobs/{part('24/7')}"
    assert mounted.get(f"/v1/jobs/{part('24/7')}").json["id"] == "24/7"
    begun = mounted.post("/v1/bulk", {"act": "cancel", "where": "task:send"})
    location = begun.headers["location"].removeprefix("/ops/queue")
    wait_until(lambda: mounted.get(location).json["done"] == 1)
    answer = Client(host.port, base="/ops/queue").post("/v1/session", {"token": TOKEN})
    assert "Path=/ops/queue" in answer.headers["set-cookie"]
    assert mounted.get("/nowhere").code == "not_found"


def test_the_host_keeps_its_own_pages_and_headers(host: Client) -> None:
    page = host.get("/")
    assert page.text == "home"
    assert "content-security-policy" not in page.headers
    assert host.get("/v1/me").status == 404
