"""Every page of the dashboard, on a store of a hundred thousand jobs, for everybody."""

from __future__ import annotations

import fcntl
import gzip
import re
from typing import TYPE_CHECKING, get_args
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import expect

from ferryman import Ferry, State
from ferryman.filter import Filter
from ferryman.service.api_keys import ApiKeys
from ferryman.service.roles import Role
from ferryman.worker.settings import Settings
from tests.system.dashboard import scene
from tests.system.dashboard.fixtures import served
from tests.system.dashboard.screen import Theme

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Page

    from ferryman import Job
    from ferryman.web.server import Server
    from tests.system.dashboard.fixtures import Look
    from tests.system.dashboard.screen import Screen

pytestmark = pytest.mark.timeout(180)

JOBS = 100_000
PAGES = {
    "": "Overview",
    "queues": "Queues",
    "queues/mail": "mail",
    "jobs": "Jobs",
    "failures": "Failures",
    "pipelines": "Pipelines",
    "runs/the-run": "Run of gazette",
    "runs/the-run?view=table&stage=rank": "Run of gazette",
    "schedules": "Schedules",
    "workers": "Workers",
    "breakers": "Limits",
    "health": "Health",
    "audit": "Audit",
    "keys": "API keys",
}


@pytest.fixture(scope="module")
def store(servers_folder: Path) -> Iterator[Ferry]:
    """Weeks of work, made once for all processes of the session; and a worker."""
    folder = servers_folder / "dashboard"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "door").open("w") as door:
        fcntl.flock(door, fcntl.LOCK_EX)
        made = (folder / "jobs.db").exists()
        ferry = Ferry(f"sqlite:///{folder}/jobs.db?synchronous=normal")
        scene.app(ferry)
        if not made:
            scene.large(ferry.backend, JOBS)
            ferry.pipelines["gazette"].using(id="the-run").push("2026-11-16")
            ferry.push("report", "full")
        worker = ferry.worker({"discover": 1, "extract": 4, "rank": 1}, Settings())
        worker.start()
        ferry.pipelines["gazette"].run("the-run").wait(60)
    yield ferry
    worker.stop()
    worker.join()
    ferry.close()


@pytest.fixture(scope="module")
def server(store: Ferry) -> Iterator[Server]:
    with served(store, environment="production") as server:
        yield server


def settled(page: Page) -> None:
    """Until nothing on the page says that it is still being loaded."""
    expect(page.locator(".loading")).to_have_count(0)


def every_page(screen: Screen, store: Ferry) -> Iterator[str]:
    for path, heading in {**PAGES, f"jobs/{failed(store).id}": "send"}.items():
        settled(screen.open(path, heading))
        yield path


def failed(store: Ferry) -> Job:
    """One that did, with its errors."""
    return store.backend.list(Filter.parse("state:failed queue:mail"), limit=1).jobs[0]


@pytest.mark.parametrize("theme", get_args(Theme))
def test_no_page_has_barriers_for_anybody(
    store: Ferry, server: Server, look: Look, theme: Theme
) -> None:
    screen = look(server.address, theme=theme)
    # A list of few: each of fifty rows would be looked at, and all are alike.
    pages = (path for path in every_page(screen, store) if path != "jobs")
    assert {path: found for path in pages if (found := screen.barriers())} == {}
    settled(screen.open("jobs?where=queue%3Aextract+state%3Afailed", "Jobs"))
    assert screen.barriers() == []


def test_every_page_fits_a_telephone(store: Ferry, server: Server, look: Look) -> None:
    screen = look(server.address, width=360)
    wide, beyond, barriers = {}, {}, {}
    for path in every_page(screen, store):
        width = screen.page.evaluate("document.documentElement.scrollWidth")
        if width > 360:
            wide[path] = width
        beyond[path] = screen.beyond()
        # A list of few: each of fifty rows would be looked at, and all are alike.
        barriers[path] = screen.barriers() if path != "jobs" else []
    assert wide == {}
    assert {path: found for path, found in beyond.items() if found} == {}
    assert {path: found for path, found in barriers.items() if found} == {}
    screen.open("", "Overview")
    screen.button("Menu").click()
    screen.page.get_by_role("link", name="Failures").click()
    expect(screen.page.get_by_role("heading", level=1)).to_have_text("Failures")
    assert screen.barriers() == []


def test_acts_and_targets_are_there_on_a_telephone(
    store: Ferry, server: Server, look: Look
) -> None:
    ApiKeys(store.backend).create("the robot", Role.VIEWER)
    screen = look(server.address, width=360)
    for path, heading, name in (
        ("failures", "Failures", re.compile("^Retry all")),
        ("schedules", "Schedules", re.compile("^Pause: nightly")),
        ("queues", "Queues", re.compile("^Pause mail")),
        ("keys", "API keys", re.compile("^Revoke the robot")),
    ):
        page = screen.open(path, heading)
        expect(page.get_by_role("button", name=name).first).to_be_visible()
        assert screen.beyond() == []
    page = screen.open("audit", "Audit")
    # What was acted on, below who did it.
    expect(page.locator("tbody td[data-title=On]").first).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 800})
    settled(screen.open("schedules", "Schedules"))
    expect(page.locator("thead th").first).to_be_visible()


def test_a_dialog_has_no_barriers(server: Server, look: Look) -> None:
    for theme in get_args(Theme):
        screen = look(server.address, theme=theme)
        screen.open("queues/mail", "mail")
        screen.button("Purge mail").click()
        expect(screen.dialog.locator(".counted strong")).to_be_visible()
        assert screen.barriers() == []
        screen.page.keyboard.press("Escape")
        screen.page.keyboard.press("?")
        expect(screen.dialog).to_be_visible()
        assert screen.barriers() == []


def test_a_search_finds_jobs_by_state_queue_error_and_payload(server: Server, look: Look) -> None:
    screen = look(server.address)
    page = screen.open("jobs?where=queue%3Amail", "Jobs")
    expect(page.locator("table.jobs tbody tr").first).to_contain_text("mail")
    field = page.get_by_role("combobox", name="Filter jobs")
    field.fill("state:failed queue:mail error:answer payload.user.name:")
    field.press("ArrowDown")
    expect(page.get_by_role("option").first).to_be_visible()
    field.fill('state:failed queue:mail error:answer payload.user.name:"user 10"')
    field.press("Enter")
    rows = page.locator("table.jobs tbody tr")
    expect(rows.first).to_contain_text("no answer within")
    expect(rows.first).to_contain_text("mail")
    assert "where=state%3Afailed" in page.url
    page.reload()
    expect(field).to_have_value('state:failed queue:mail error:answer payload.user.name:"user 10"')


def test_a_filter_that_cannot_be_read_says_where(server: Server, look: Look) -> None:
    screen = look(server.address)
    page = screen.open("jobs?where=staet%3Afailed", "Jobs")
    expect(page.get_by_role("alert")).to_contain_text("unknown field 'staet'")


def test_the_chips_count_exactly_and_choose_a_state(
    store: Ferry, server: Server, look: Look
) -> None:
    screen = look(server.address)
    page = screen.open("jobs?where=queue%3Aimages", "Jobs")
    states = store.backend.snapshot().queues["images"].states
    chip = page.get_by_role("button", name=re.compile("^cancelled"))
    expect(chip).to_contain_text(f"{states[State.CANCELLED]:,}")
    chip.click()
    expect(page.get_by_role("combobox", name="Filter jobs")).to_have_value(
        "queue:images state:cancelled"
    )
    expect(page.locator("table.jobs tbody .state").first).to_have_text("cancelled")


def test_pages_of_jobs_follow_each_other(server: Server, look: Look) -> None:
    screen = look(server.address)
    page = screen.open("jobs?where=state%3Acompleted", "Jobs")
    settled(page)
    links = page.locator("table.jobs tbody a.mono")
    first = links.first.get_attribute("href")
    screen.button("Older").click()
    expect(links.first).not_to_have_attribute("href", first or "")
    screen.button("Newest").click()
    expect(links.first).to_have_attribute("href", first or "")


def test_numbers_beyond_a_double_are_shown_as_they_are(
    store: Ferry, server: Server, look: Look
) -> None:
    screen = look(server.address)
    job = failed(store)
    page = screen.open(f"jobs/{job.id}")
    expect(page.get_by_role("group", name="payload")).to_contain_text(
        str(job.payload["user"]["id"])
    )


def test_siblings_beyond_fifty_are_folded_but_failures_are_not(server: Server, look: Look) -> None:
    screen = look(server.address)
    page = screen.open("runs/the-run", "Run of gazette")
    expect(page.get_by_role("region", name="Waterfall")).to_contain_text("Show 51 more")
    failed = page.locator("table.waterfall tr", has=page.locator(".s-failed"))
    expect(failed).to_have_count(1)
    screen.button("Show 51 more").click()
    expect(screen.button("Fold extract")).to_be_visible()
    page.get_by_role("button", name=re.compile("^extract")).click()
    expect(page.get_by_role("heading", name="Jobs of extract")).to_be_visible()
    page.get_by_label("Failed only").check()
    expect(page.locator("table.waterfall tbody tr .state")).to_have_text(["failed"])


def test_the_whole_dashboard_weighs_at_most_120_kilobytes(server: Server) -> None:
    page = _raw(server, "/")
    paths = set(re.findall(rb'(?:href|src)="(static/[^"]+)"', gzip.decompress(page)))
    assert len(paths) > 30
    sizes = {path: len(_raw(server, f"/{path.decode()}")) for path in paths}
    assert sum(sizes.values()) + len(page) <= 120 * 1024, sorted(sizes.items(), key=lambda x: x[1])


def _raw(server: Server, path: str) -> bytes:
    request = Request(server.address + path, headers={"Accept-Encoding": "gzip"})  # noqa: S310
    with urlopen(request, timeout=10) as answer:  # noqa: S310
        assert "unsafe" not in answer.headers["Content-Security-Policy"]
        body: bytes = answer.read()
        return body
