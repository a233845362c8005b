"""A browser, and signed-in screens on a server of the test's own."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from playwright.sync_api import expect, sync_playwright

from ferryman.web import asgi
from ferryman.web.server import Server
from tests.system.dashboard.screen import ARGUMENTS, CHROMIUM, PATIENCE, Screen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from ferryman import Ferry
    from ferryman.queue.contract import Backend

TOKEN = "a-token-that-only-the-tests-know-0123456789"  # noqa: S105


class Look(Protocol):
    """A signed-in screen; by default of the server's own token, which may do everything."""

    def __call__(self, address: str, token: str = TOKEN, **options: Any) -> Screen: ...


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Of one module: while it is open, nothing else in this thread can run an event loop."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, headless=True, args=list(ARGUMENTS)
        )
        yield browser
        browser.close()


@pytest.fixture
def look(browser: Browser) -> Iterator[Look]:
    """Opens screens; whatever a browser complained about on one of them fails the test."""
    screens: list[Screen] = []

    with ExitStack() as stack:

        def make(address: str, token: str = TOKEN, **options: Any) -> Screen:
            screen = Screen(browser, address, token, **options)
            stack.callback(screen.close)
            screens.append(screen)
            return screen

        yield make
        for screen in screens:
            assert screen.wrong == []


@contextmanager
def served(store: Ferry | Backend | str, port: int = 0, **options: Any) -> Iterator[Server]:
    """A dashboard for a store."""
    app = asgi(store, token=TOKEN, rate=10_000.0, **options)
    with Server(app, "127.0.0.1", port) as server:
        yield server
