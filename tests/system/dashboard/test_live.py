"""A page that stays open while jobs come and go, and while what it looks at goes away."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from fastapi import FastAPI
from playwright.sync_api import expect

from ferryman import Ferry
from ferryman.service.api_keys import ApiKeys
from ferryman.service.roles import Role
from ferryman.web import asgi
from ferryman.web.server import Server
from ferryman.worker.rollup import HISTORY_CELLS, LOOKED, SPAN, STEP, Ended
from ferryman.worker.settings import Settings
from tests.servers.postgres_relay import Relay, relayed
from tests.system.dashboard import scene
from tests.system.dashboard.fixtures import TOKEN, served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

    from tests.system.dashboard.fixtures import Look

MINUTE = 60_000

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def ferry() -> Iterator[Ferry]:
    with Ferry("memory://") as ferry:
        scene.app(ferry)
        yield ferry


def push(ferry: Ferry, *names: str) -> None:
    for name in names:
        ferry.push("send", name, id=name)


def under_way(page: Page) -> None:
    """Let the page begin what it was about to ask when it was told to be quiet: effects come only
    after the next paint."""
    page.clock.run_for(1_000)


def ids(page: Page) -> list[str]:
    found: list[str] = page.locator("table.jobs tbody a.mono").all_inner_texts()
    return found


def test_what_happens_in_the_store_is_seen_without_a_reload(ferry: Ferry, look: Look) -> None:
    push(ferry, "ada")
    with served(ferry) as server:
        page = look(server.address).open("", "Overview")
        row = page.locator("tbody tr", has_text="mail")
        expect(row.locator(".n-pending")).to_have_text("1")
        expect(page.locator("button.live")).to_have_text("live")
        push(ferry, "bob", "eve")
        expect(row.locator(".n-pending")).to_have_text("3")
        page.goto(f"{server.address}/#/jobs/ada")
        expect(page.locator(".sentence .state")).to_have_text("pending")
        ferry.backend.cancel(["ada"])
        expect(page.locator(".sentence .state")).to_have_text("cancelled")


def test_rows_stand_still_until_somebody_asks_for_the_new_ones(ferry: Ferry, look: Look) -> None:
    push(ferry, "ada", "bob")
    with served(ferry) as server:
        page = look(server.address).open("jobs?where=state%3Apending", "Jobs")
        expect(page.locator("table.jobs tbody tr")).to_have_count(2)
        page.locator("table.jobs tbody tr").first.hover()
        push(ferry, "eve", "dan")
        pill = page.get_by_role("button", name="2 new, show")
        expect(pill).to_be_visible()
        assert ids(page) == ["bob", "ada"]
        ferry.backend.cancel(["ada"])
        expect(page.locator("tr.gone")).to_have_count(1)
        assert ids(page) == ["bob", "ada"]
        pill.click()
        expect(page.locator("table.jobs tbody tr")).to_have_count(3)
        assert ids(page) == ["dan", "eve", "bob"]


def test_a_paused_page_asks_nothing_at_all_and_goes_on_when_told(ferry: Ferry, look: Look) -> None:
    push(ferry, "ada")
    with served(ferry) as server:
        screen = look(server.address)
        page = screen.page
        page.clock.install()
        page.reload()
        screen.open("jobs", "Jobs")
        expect(page.locator("button.live")).to_have_text("live")
        expect(page.locator("table.jobs tbody tr")).to_have_count(1)
        page.keyboard.press("l")
        expect(page.locator("button.live")).to_have_text("paused")
        under_way(page)
        push(ferry, "bob")
        assert screen.requests(lambda: page.clock.run_for(2 * MINUTE)) == []
        page.keyboard.press("l")
        expect(page.get_by_role("button", name="1 new, show")).to_be_visible()


def test_a_hidden_page_asks_nothing_and_is_up_to_date_when_it_is_seen(
    ferry: Ferry, look: Look
) -> None:
    push(ferry, "ada")
    with served(ferry) as server:
        screen = look(server.address)
        page = screen.page
        page.clock.install()
        page.reload()
        expect(page.locator("button.live")).to_have_text("live")
        page.evaluate(
            "hide = (on) => { Object.defineProperty(document, 'hidden',"
            " {value: on, configurable: true});"
            " document.dispatchEvent(new Event('visibilitychange')); }"
        )
        page.evaluate("hide(true)")
        under_way(page)
        push(ferry, "bob")
        assert screen.requests(lambda: page.clock.run_for(2 * MINUTE)) == []
        page.evaluate("hide(false)")
        expect(page.locator("tbody tr", has_text="mail").locator(".n-pending")).to_have_text("2")


def test_without_the_stream_the_page_looks_every_five_seconds(ferry: Ferry, look: Look) -> None:
    push(ferry, "ada")
    with served(ferry) as server:
        screen = look(server.address)
        page = screen.page
        page.route("**/v1/events", lambda route: route.abort())
        page.reload()
        expect(page.locator("button.live")).to_have_text("live, every 5 s")
        push(ferry, "bob")
        expect(page.locator("tbody tr", has_text="mail").locator(".n-pending")).to_have_text("2")


def test_a_server_that_goes_away_and_comes_back_is_told_and_survived(
    ferry: Ferry, look: Look
) -> None:
    push(ferry, "ada")
    with served(ferry) as server:
        port = server.port
        page = look(server.address).open("queues", "Queues")
        expect(page.locator("button.live")).to_have_text("live")
    expect(page.locator("[data-trouble=server]")).to_contain_text("The server does not answer")
    expect(page.locator("button.live")).to_have_text("reconnecting")
    expect(page.locator("tbody tr", has_text="mail")).to_be_visible()
    push(ferry, "bob")
    with served(ferry, port):
        expect(page.locator("button.live")).to_have_text("live")
        expect(page.locator("[data-trouble]")).to_have_count(0)
        expect(page.locator("tbody tr", has_text="mail").locator(".n-pending")).to_have_text("2")


def test_a_session_that_ends_asks_for_a_token_also_when_only_the_stream_notices(
    ferry: Ferry, look: Look
) -> None:
    key, secret = ApiKeys(ferry.backend).create("the robot", Role.VIEWER)
    with served(ferry) as server:
        page = look(server.address, secret).page
        expect(page.locator("button.live")).to_have_text("live")
        # Nobody answers what the page itself asks.
        page.route(re.compile(r"/v1/(?!events)"), lambda _: None)
        ApiKeys(ferry.backend).revoke(key.id)
        expect(page.get_by_label("Token or key")).to_be_visible()
        page.unroute_all()


def test_a_store_that_goes_away_and_comes_back_is_told_and_survived(
    postgres_url: str, look: Look
) -> None:
    with Relay(postgres_url) as relay:
        url = relayed(postgres_url, relay)
        with Ferry(url) as ferry, served(ferry) as server:
            scene.app(ferry)
            push(ferry, "ada")
            page = look(server.address).open("queues", "Queues")
            expect(page.locator("tbody tr", has_text="mail")).to_be_visible()
            relay.cut()
            trouble = page.locator("[data-trouble=store]")
            expect(trouble).to_contain_text("The store cannot be reached")
            expect(page.locator("tbody tr", has_text="mail")).to_be_visible()
            relay.mend()
            expect(page.locator("[data-trouble]")).to_have_count(0)
            push(ferry, "bob")
            row = page.locator("tbody tr", has_text="mail")
            expect(row.locator(".n-pending")).to_have_text("2")


def test_late_news_of_an_outage_does_not_stay_on_a_page_whose_stream_is_well(
    ferry: Ferry, look: Look
) -> None:
    push(ferry, "ada")
    away = re.compile(r"/v1/(queues|overview)\b")
    with served(ferry) as server:
        screen = look(server.address)
        page = screen.page
        expect(page.locator("button.live")).to_have_text("live")
        page.route(away, lambda route: route.fulfill(status=503, json={"detail": "gone"}))
        screen.open("queues", "Queues")
        expect(page.locator("[data-trouble=store]")).to_contain_text("gone")
        page.unroute(away)
        expect(page.locator("[data-trouble]")).to_have_count(0)
        expect(page.locator("tbody tr", has_text="mail")).to_be_visible()


def test_a_worker_that_goes_away_and_comes_back_is_told(ferry: Ferry, look: Look) -> None:
    ferry.push("send", "later", delay=3600)
    with served(ferry) as server:
        page = look(server.address).open("workers", "Workers")
        expect(page.get_by_text("No worker has shown itself lately.")).to_be_visible()
        worker = ferry.worker({"mail": 2}, Settings(drain=1.0))
        worker.start()
        expect(page.locator("tbody tr")).to_contain_text("mail 2")
        worker.stop()
        worker.join()
        push(ferry, "ada")
        expect(page.locator(".banner.warn")).to_contain_text("No worker is alive")
        again = ferry.worker({"mail": 2}, Settings(drain=1.0))
        again.start()
        expect(page.locator(".banner.warn")).to_have_count(0)
        again.stop()
        again.join()


def test_the_age_of_the_oldest_job_is_drawn_from_before_the_page_was_opened(
    ferry: Ferry, look: Look
) -> None:
    push(ferry, "ada")
    now = int(ferry.backend.clock.now())
    at = now - now % STEP - 2 * STEP
    seen = {LOOKED: Ended(oldest=0.0).to_json(), "mail": Ended(oldest=7_200.0).to_json()}
    key = f"{HISTORY_CELLS}{at - at % SPAN}/worker"
    ferry.backend.write_cell(key, json.dumps({at: seen}), expect=0)
    with served(ferry) as server:
        screen = look(server.address)
        for place, heading in (("", "Overview"), ("queues/mail", "mail")):
            screen.open(place, heading)
            ages = screen.page.locator("figure", has_text="Age of the oldest ready job")
            screen.button("Table", ages).click()
            expect(ages.locator("tbody")).to_contain_text("2 h")


def test_progress_and_logs_of_a_running_job_appear_as_they_are_made(
    ferry: Ferry, look: Look
) -> None:
    push(ferry, "ada")
    [job] = ferry.queue("mail").poll(batch_size=1)
    with served(ferry) as server:
        page = look(server.address).open("jobs/ada", "send")
        expect(page.locator(".sentence .state")).to_have_text("processing")
        job.progress(40, "page 40 of 100")
        job.checkpoint({"page": 40})
        expect(page.locator(".sentence progress")).to_have_attribute("value", "40")
        expect(page.locator(".sentence")).to_contain_text("page 40 of 100")
        expect(page.get_by_role("group", name="checkpoint")).to_contain_text("40")


def test_it_works_mounted_under_any_path(ferry: Ferry, look: Look) -> None:
    push(ferry, "24/7")
    inner = asgi(ferry, token=TOKEN, rate=10_000.0)
    outer = FastAPI()
    outer.mount("/ops/jobs", inner)
    outer.state.site = inner.state.site
    with Server(outer, "127.0.0.1", 0) as server:
        screen = look(f"{server.address}/ops/jobs")
        page = screen.open("jobs", "Jobs")
        page.get_by_role("link", name="24/7").click()
        screen.button("Cancel").click()
        screen.confirm("Cancel", jobs=1)
        expect(page.locator(".sentence .state")).to_have_text("cancelled")
