"""The dashboard without a mouse."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from ferryman import Ferry, State
from tests.system.dashboard import scene
from tests.system.dashboard.fixtures import served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.system.dashboard.fixtures import Look
    from tests.system.dashboard.screen import Screen

PLACES = {
    "q": "Queues",
    "j": "Jobs",
    "f": "Failures",
    "p": "Pipelines",
    "s": "Schedules",
    "w": "Workers",
    "b": "Limits",
    "h": "Health",
    "a": "Audit",
    "o": "Overview",
}

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def ferry() -> Iterator[Ferry]:
    with Ferry("memory://") as ferry:
        scene.app(ferry)
        for index in range(5):
            ferry.push("send", f"user {index}", id=f"mail-{index}")
        yield ferry


@pytest.fixture
def screen(ferry: Ferry, look: Look) -> Iterator[Screen]:
    with served(ferry) as server:
        yield look(server.address)


def test_g_and_a_letter_goes_to_every_page(screen: Screen) -> None:
    for key, heading in PLACES.items():
        screen.page.keyboard.press("g")
        screen.page.keyboard.press(key)
        expect(screen.page.get_by_role("heading", level=1)).to_have_text(heading)


def test_jobs_are_chosen_opened_and_cancelled_by_keys_alone(ferry: Ferry, screen: Screen) -> None:
    page = screen.open("jobs", "Jobs")
    expect(page.locator("table.jobs tbody tr")).to_have_count(5)
    for key in "jjkjx":
        page.keyboard.press(key)
    expect(page.locator("tr.cursor a.mono")).to_have_text("mail-3")
    expect(page.get_by_role("toolbar", name="Selected jobs")).to_contain_text("1 selected")
    page.keyboard.press("c")
    expect(screen.dialog.locator(".counted strong")).to_have_text("1")
    expect(screen.button("Cancel", screen.dialog)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="1 done")).to_be_visible()
    assert ferry.backend.snapshot().count(State.CANCELLED) == 1
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("send")
    expect(page.locator(".sentence .state")).to_have_text("cancelled")
    page.keyboard.press("r")
    expect(screen.button("Retry", screen.dialog)).to_be_focused()
    page.keyboard.press("Escape")
    expect(screen.dialog).to_have_count(0)
    page.keyboard.press("r")
    expect(screen.button("Retry", screen.dialog)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".sentence .state")).to_have_text("pending")
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", level=1)).to_have_text("Jobs")


def test_a_filter_is_written_with_suggestions_by_keys_alone(screen: Screen) -> None:
    page = screen.open("jobs", "Jobs")
    expect(page.locator("table.jobs tbody tr")).to_have_count(5)
    field = page.get_by_role("combobox", name="Filter jobs")
    chosen = page.get_by_role("option", selected=True)
    page.keyboard.press("/")
    page.keyboard.type("que")
    # Each list is waited for: names of queues are known only when the store was heard of.
    for name, written in (("queue:", "queue:"), ("mail", "queue:mail ")):
        expect(page.get_by_role("option", name=name).first).to_be_visible()
        page.keyboard.press("ArrowDown")
        expect(chosen).to_contain_text(name)
        page.keyboard.press("Enter")
        expect(field).to_have_value(written)
    page.keyboard.press("Enter")
    expect(field).to_have_value(re.compile("^queue:mail"))
    expect(page.locator("table.jobs tbody tr")).to_have_count(5)
    assert "where=queue%3Amail" in page.url


def test_letters_typed_into_a_field_are_only_letters(screen: Screen) -> None:
    page = screen.open("jobs", "Jobs")
    page.keyboard.press("/")
    page.keyboard.type("gqtl?xjc")
    expect(page.get_by_role("combobox", name="Filter jobs")).to_have_value("gqtl?xjc")
    expect(page.get_by_role("heading", level=1)).to_have_text("Jobs")
    expect(screen.dialog).to_have_count(0)


def test_theme_help_and_live_updates_have_keys(screen: Screen) -> None:
    page = screen.page
    page.keyboard.press("t")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    page.keyboard.press("l")
    expect(page.locator("button.live")).to_have_text("paused")
    page.keyboard.press("?")
    expect(screen.dialog).to_contain_text("retry the row")
    screen.dialog.get_by_label("Single keys act").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("l")
    expect(page.locator("button.live")).to_have_text("paused")


def test_the_first_tab_leads_past_the_navigation(screen: Screen) -> None:
    page = screen.open("queues", "Queues")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
