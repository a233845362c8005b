"""The description of the API, and what happens to requests that are made up from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.web.access.rules import RULES
from ferryman.web.app import ROUTERS
from ferryman.web.guard import Guarded
from tests.web.conftest import TOKEN
from tests.web.fuzz import fuzz

if TYPE_CHECKING:
    from pathlib import Path

    from ferryman import Ferry
    from ferryman.web.server import Server
    from tests.web.client import Client


def test_the_description_is_openapi_3_1_and_has_every_route(admin: Client) -> None:
    found = admin.get("/openapi.json").json
    assert found["openapi"] == "3.1.0"
    described = {
        f"{method.upper()} {path}" for path, acts in found["paths"].items() for method in acts
    }
    pages = {"GET /openapi.json", "GET /", "GET /static/{version}/{path:path}"}
    assert described == {route for route in RULES if not route.startswith("HEAD ")} - pages
    operations = [act for acts in found["paths"].values() for act in acts.values()]
    assert all(act["description"] for act in operations)
    assert len({act["operationId"] for act in operations}) == len(operations)


def test_no_answer_is_checked_or_written_anew_on_its_way_out() -> None:
    for router in ROUTERS:
        for route in router.routes:
            assert isinstance(route, Guarded)
            assert route.response_field is None, route.path


@pytest.mark.timeout(300)
def test_requests_made_up_from_the_description_cause_no_server_error(
    ferry: Ferry, server: Server, tmp_path: Path
) -> None:
    ferry.push("send", {"to": "ada"}, queue="mail")
    ran = fuzz(server.port, TOKEN, examples=1, folder=tmp_path)
    assert ran.returncode == 0, ran.stdout[-5_000:]
