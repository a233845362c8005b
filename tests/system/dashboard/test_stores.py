"""The same dashboard on every store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from ferryman import Ferry
from ferryman.ids import new_id
from ferryman.worker.settings import Settings
from tests.servers.sqs import sqs_url
from tests.system.dashboard import scene
from tests.system.dashboard.fixtures import served

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers.shared import Server
    from tests.system.dashboard.fixtures import Look

STORES = ("memory", "file", "sqlite", "postgresql", "sqs")

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def url(request: pytest.FixtureRequest, store: str, memory_folder: Path) -> str:
    match store:
        case "memory":
            return "memory://"
        case "file":
            return f"file://{memory_folder}/queues"
        case "sqlite":
            return f"sqlite:///{memory_folder}/jobs.db"
        case "postgresql":
            found: str = request.getfixturevalue("postgres_url")
            return found
    server: Server = request.getfixturevalue("ministack")
    request.getfixturevalue("aws_settings")
    return sqs_url(server, new_id().replace("-", ""), f"sqlite:///{memory_folder}/ledger.db")


@pytest.mark.parametrize("store", STORES)
def test_jobs_are_seen_driven_and_followed(store: str, url: str, look: Look) -> None:
    with Ferry(url) as ferry, served(ferry) as server:
        scene.app(ferry)
        ferry.push("send", "ada", id="ada")
        ferry.push("send", "bad", id="bad")
        screen = look(server.address)
        page = screen.open("queues", "Queues")
        expect(page.locator(".badge.store")).to_have_text(store)
        expect(page.locator("tbody tr", has_text="mail").locator(".n-pending")).to_have_text("2")
        screen.open("jobs/ada", "send")
        screen.button("Pause").click()
        screen.confirm("Pause", jobs=1)
        expect(page.locator(".sentence .state")).to_have_text("paused")
        worker = ferry.worker({"mail": 1}, Settings(drain=2.0))
        worker.start()
        screen.open("jobs/bad", "send")
        expect(page.locator(".sentence .state")).to_have_text("failed")
        expect(page.get_by_label("Traceback of attempt 2")).to_contain_text("no such mailbox")
        screen.open("jobs?where=state%3Apaused", "Jobs")
        page.get_by_label("Select ada").check()
        screen.button("Resume").click()
        screen.confirm("Resume", jobs=1)
        screen.open("jobs/ada", "send")
        expect(page.locator(".sentence .state")).to_have_text("completed")
        expect(page.get_by_role("group", name="result")).to_contain_text("250 OK ada")
        screen.open("failures", "Failures")
        expect(page.locator("tbody tr")).to_contain_text("ConnectionError")
        screen.open("workers", "Workers")
        expect(page.locator("tbody tr")).to_contain_text("mail 1")
        worker.stop()
        worker.join()
