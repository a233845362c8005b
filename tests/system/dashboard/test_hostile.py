"""Whatever a job holds is text, and nothing but text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from ferryman import Ferry
from ferryman.filter import Filter
from ferryman.service import presentation
from ferryman.service.api_keys import ApiKeys
from ferryman.service.roles import Role
from tests.system.dashboard import scene
from tests.system.dashboard.fixtures import served
from tests.system.dashboard.hostile import hostile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.web.server import Server
    from tests.system.dashboard.fixtures import Look
    from tests.system.dashboard.screen import Screen

pytestmark = pytest.mark.timeout(180)

LISTS = {
    "": "Overview",
    "queues": "Queues",
    "jobs": "Jobs",
    "failures": "Failures",
    "schedules": "Schedules",
    "workers": "Workers",
    "breakers": "Limits",
    "health": "Health",
    "audit": "Audit",
    "keys": "API keys",
}


@pytest.fixture(scope="module")
def planted() -> Iterator[Ferry]:
    """Two hundred strings in every field of jobs, and in the names of all else."""
    strings = hostile()
    assert len(strings) >= 200
    with Ferry("memory://") as ferry:
        ferry.backend.restore(list(scene.planted(strings)))
        for index, text in enumerate(strings[:40]):
            name = scene.name_of(text)
            ferry.backend.write_cell(f"worker/{name}", _worker(name), expect=None)
            ferry.backend.write_cell(f"breaker/{name}", _breaker(text), expect=None)
            ApiKeys(ferry.backend).create(f"{name[:100]} {index}", Role.VIEWER)
        yield ferry


@pytest.fixture(scope="module")
def server(planted: Ferry) -> Iterator[Server]:
    with served(planted, environment="<img src=x onerror=window.ran=1>") as server:
        yield server


def _worker(name: str) -> str:
    row = {"host": name, "version": name, "queues": {name: 1}, "running": 1, "pid": 1}
    return json.dumps({**row, "heartbeat_at": 4e9, "lease": 60, "started_at": 1e9})


def _breaker(text: str) -> str:
    return json.dumps({"failures": 5, "until": 4e9, "problem": text[:500]})


def ran(screen: Screen) -> bool:
    return bool(screen.page.evaluate("'ran' in window || 'ran' in ({})"))


def test_lists_show_hostile_strings_as_text(server: Server, look: Look) -> None:
    screen = look(server.address)
    for path, heading in LISTS.items():
        page = screen.open(path, heading)
        expect(page.locator(".loading")).to_have_count(0)
        assert not ran(screen), path
    page = screen.open("jobs", "Jobs")
    expect(page.locator("table.jobs")).to_contain_text("<script>window.ran=1</script>")
    screen.open("breakers", "Limits")
    expect(page.locator("tbody").first).to_contain_text("<svg onload=window.ran=1>")


def test_pages_about_each_string_show_it_as_text(
    planted: Ferry, server: Server, look: Look
) -> None:
    screen = look(server.address)
    for job in planted.backend.list(Filter.parse(""), limit=1_000).jobs:
        page = screen.open(f"jobs/{quote(job.id, safe='')}", job.task)
        expect(page.locator(".error-text")).to_be_visible()
        assert not ran(screen), job.id
        # As everywhere, what looks like a credential is hidden.
        shown = str(presentation.job_summary(job)["error"]).strip()
        assert page.locator(".error-text").inner_text().strip() == shown


def test_queues_filters_and_addresses_show_it_as_text(
    planted: Ferry, server: Server, look: Look
) -> None:
    screen = look(server.address)
    for text in hostile()[:60]:
        screen.open(f"jobs?where={quote(text, safe='')}", "Jobs")
        expect(screen.page.locator(".loading")).to_have_count(0)
        assert not ran(screen), text
    for name in list(planted.backend.snapshot().queues)[:40]:
        screen.open(f"queues/{quote(name, safe='')}", name)
        assert not ran(screen), name
    screen.page.goto(f"{server.address}/#/%E0%A4%A?<script>")
    expect(screen.page.get_by_role("heading", level=1)).to_have_text("No such page")
