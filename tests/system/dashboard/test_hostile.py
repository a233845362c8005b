"""Whatever a job holds is text, and nothing but text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from ferryman import Ferry
from ferryman.filter import Filter
from ferryman.flow.breakers import BREAKER_CELLS
from ferryman.flow.permits import PERMIT_CELLS
from ferryman.flow.rates import RATE_CELLS
from ferryman.flow.timetable import Timetable
from ferryman.queue.diagnosis import Trouble
from ferryman.service import presentation
from ferryman.service.api_keys import ApiKeys
from ferryman.service.roles import Role
from ferryman.tasks.spared import PIPELINE_CELLS
from ferryman.worker.upkeep import WORKER_CELLS
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
    "pipelines": "Pipelines",
    "schedules": "Schedules",
    "workers": "Workers",
    "breakers": "Limits",
    "health": "Health",
    "audit": "Audit",
    "keys": "API keys",
}
STRINGS = hostile()


def named(index: int) -> str:
    """A name that is as hostile as names may be, and no other string's."""
    return f"{scene.name_of(STRINGS[index])[:150]} {index}".strip()


@pytest.fixture(scope="module")
def planted() -> Iterator[Ferry]:
    """Two hundred strings in every field of jobs, and in the names of all else."""
    assert len(STRINGS) >= 200
    with Ferry("memory://") as ferry:
        ferry.backend.restore(list(scene.planted(STRINGS)))
        ferry.backend.restore(list(scene.planted_runs(map(named, range(len(STRINGS))))))
        for index, text in enumerate(STRINGS):
            name = named(index)
            for key, value in _cells(name, text).items():
                ferry.backend.write_cell(key + name, json.dumps(value), expect=None)
            ApiKeys(ferry.backend).create(name[:100], Role.VIEWER, queues=[name])
            ferry.schedule(name, name, text, cron="30 2 * * *", queue=name)
        for schedule in ferry.schedules.values():
            Timetable(ferry.backend).declare(schedule)
        yield ferry


@pytest.fixture(scope="module")
def server(planted: Ferry) -> Iterator[Server]:
    with served(planted, environment="<img src=x onerror=window.ran=1>") as server:
        yield server


def _cells(name: str, text: str) -> dict[str, dict[str, object]]:
    """What workers would have written about something of this name."""
    worker = {"host": name, "version": name, "queues": {name: 1}, "running": 1, "pid": 1}
    return {
        WORKER_CELLS: {**worker, "heartbeat_at": 4e9, "lease": 60, "started_at": 1e9},
        BREAKER_CELLS: {"failures": 5, "until": 4e9, "problem": text[:500]},
        RATE_CELLS: {"zone": name, "2/h": [[4e9, 2]]},
        PERMIT_CELLS: {"limit": 3, "holders": {name: [1, 4e9]}},
        PIPELINE_CELLS: {"stages": [{"name": name, "queue": name, "after": []}]},
    }


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
    for job in planted.backend.list(Filter.parse("state:failed"), limit=1_000).jobs:
        page = screen.open(f"jobs/{quote(job.id, safe='')}", job.task)
        expect(page.locator(".error-text")).to_be_visible()
        assert not ran(screen), job.id
        # As everywhere, what looks like a credential is hidden.
        shown = str(presentation.job_summary(job)["error"]).strip()
        assert page.locator(".error-text").inner_text().strip() == shown


def test_lists_have_a_row_for_each_string(server: Server, look: Look) -> None:
    screen = look(server.address)
    for path, heading, rows in (
        ("workers", "Workers", "tbody tr"),
        ("schedules", "Schedules", "tbody tr"),
        ("keys", "API keys", "tbody tr"),
        ("pipelines", "Pipelines", "table.runs tbody tr"),
    ):
        page = screen.open(path, heading)
        expect(page.locator(rows)).to_have_count(len(STRINGS), timeout=60_000)
        assert not ran(screen), path
        for index in range(0, len(STRINGS), 40):
            expect(page.locator("main")).to_contain_text(_shown(named(index)))
    page = screen.open("breakers", "Limits")
    expect(page.locator("tbody")).to_have_count(3)
    for body in page.locator("tbody").all():
        expect(body.locator("tr")).to_have_count(len(STRINGS))
    assert not ran(screen)


def _shown(name: str) -> str:
    return " ".join(name.split())


def test_what_was_set_aside_is_shown_as_text(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    with Ferry("memory://") as ferry:
        troubles = [
            Trouble(named(index), f"{named(index)}/task.json", text or "-", 1e9)
            for index, text in enumerate(STRINGS)
        ]
        monkeypatch.setattr(ferry.backend, "troubles", lambda: troubles, raising=False)
        ferry.push("send")
        with served(ferry) as server:
            screen = look(server.address)
            page = screen.open("health", "Health")
            # Nobody works here, which the banner says first.
            expect(page.get_by_text("/task.json")).to_have_count(len(STRINGS))
            assert not ran(screen)


# One address after the other without leaving the page, each until it shows the heading.
_VISIT = """
async (places) => {
  const missed = [];
  for (const [hash, heading] of places) {
    location.hash = hash;
    const until = performance.now() + 20000;
    const there = () => document.querySelector("h1")?.textContent === heading
      && !document.querySelector(".loading");
    do {
      await new Promise((done) => setTimeout(done, 10));
    } while (!there() && performance.now() < until);
    if (!there() || "ran" in window) missed.push(hash);
  }
  return missed;
}
"""


def visit(screen: Screen, places: list[tuple[str, str]]) -> list[str]:
    """The places that did not come, or at which a script ran."""
    missed: list[str] = screen.page.evaluate(_VISIT, places)
    return missed


def test_pages_of_queues_and_runs_show_their_names_as_text(
    planted: Ferry, server: Server, look: Look
) -> None:
    screen = look(server.address)
    queues = list(planted.backend.snapshot().queues)
    assert len(queues) >= 200
    assert visit(screen, [(f"#/queues/{quote(name, safe='')}", name) for name in queues]) == []
    names = [named(index) for index in range(len(STRINGS))]
    runs = [(f"#/runs/{quote(name, safe='')}", f"Run of {name}") for name in names]
    assert visit(screen, runs) == []
    assert not ran(screen)


def test_filters_and_addresses_show_it_as_text(server: Server, look: Look) -> None:
    screen = look(server.address)
    places = [(f"#/jobs?where={quote(text, safe='')}", "Jobs") for text in STRINGS]
    assert visit(screen, places) == []
    screen.page.goto(f"{server.address}/#/%E0%A4%A?<script>")
    expect(screen.page.get_by_role("heading", level=1)).to_have_text("No such page")
    assert not ran(screen)
