"""What an open tab costs the store, while jobs are pushed all the time."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from ferryman import Ferry
from ferryman.testing.inline import drain
from tests.system.dashboard import scene
from tests.system.dashboard.fixtures import served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman import Event
    from ferryman.web.server import Server
    from tests.system.dashboard.fixtures import Look

pytestmark = pytest.mark.timeout(180)

MOST = 2.0
"""Questions a second."""
SECONDS = 16.0
RUNS = 5


@pytest.fixture(scope="module")
def ferry() -> Iterator[Ferry]:
    """Runs of several stages that go on, and one that has ended."""
    with Ferry("memory://") as ferry:
        scene.app(ferry)
        other = ferry.task(name="other", queue="elsewhere")(_same)
        ferry.pipeline("second", other >> ferry.task(name="last", queue="elsewhere")(_same))
        for number in range(RUNS):
            ferry.pipelines["gazette"].using(id=f"run-{number}").push("2026")
            ferry.pipelines["second"].push(number)
        drain(ferry, ["discover"])
        drain(ferry, ["elsewhere"])
        yield ferry


@pytest.fixture(scope="module")
def server(ferry: Ferry) -> Iterator[Server]:
    with served(ferry) as server:
        yield server


@pytest.mark.parametrize(
    ("path", "heading"),
    [
        ("pipelines", "Pipelines"),
        ("runs/run-1", "Run of gazette"),
        ("queues/mail", "mail"),
    ],
)
def test_an_open_page_asks_the_store_fewer_than_two_questions_a_second(
    ferry: Ferry, server: Server, look: Look, path: str, heading: str
) -> None:
    ferry.push("send", "ada")
    asked: list[object] = []

    def count(event: Event) -> None:
        asked.append(event["verb"])

    screen = look(server.address)
    page = screen.open(path, heading)
    expect(page.locator(".loading")).to_have_count(0)
    pushed = 0
    stop = ferry.events.subscribe("backend.call", count)
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        ferry.push("send", "ada")
        pushed += 1
        page.wait_for_timeout(100)
    stop()
    rate = (len(asked) - pushed) / SECONDS
    assert rate < MOST, Counter(asked)


def _same(number: int) -> int:
    return number
