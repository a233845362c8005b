"""What a person sees: one page of a real browser, and everything that went wrong on it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Browser, Locator, Page

Theme = Literal["light", "dark"]

CHROMIUM: Final = "/usr/bin/chromium"
ARGUMENTS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
PATIENCE: Final = 30_000
"""Milliseconds: a busy machine is slow, and nothing here is about how long it takes."""
AXE: Final = Path(sys.prefix) / "axe-core" / "node_modules" / "axe-core" / "axe.min.js"

_WATCH: Final = """
window.wrong = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.wrong.push(`${event.violatedDirective}: ${event.blockedURI} ${event.sample}`));
"""

# Not what only those see who hear the page: it is one pixel wide on purpose.
_BEYOND: Final = """
[...document.querySelectorAll("button, input, select, textarea, summary, [role=button]")]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }))
  .map((one) => [one, one.getBoundingClientRect()])
  .filter(([, box]) => box.width > 1 && (box.left < 0 || box.right > innerWidth + 0.5))
  .map(([one, box]) => `${one.outerHTML.slice(0, 120)} at ${box.left} to ${box.right}`)
"""


class Screen:
    """A signed-in page; `wrong` is whatever the browser complained about."""

    def __init__(
        self,
        browser: Browser,
        address: str,
        token: str,
        *,
        theme: Theme = "light",
        width: int = 1280,
    ) -> None:
        self.address = address
        self.asked: list[str] = []
        self._troubles: list[str] = []
        self._context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=theme, reduced_motion="reduce"
        )
        self._context.set_default_timeout(PATIENCE)
        self._context.add_init_script(_WATCH)
        self.page: Page = self._context.new_page()
        self.page.on("pageerror", lambda error: self._troubles.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: self._troubles.append(f"dialog: {dialog.message}"))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(f"{address}/#token={token}")
        expect(self.page.get_by_role("heading", level=1)).to_have_text("Overview")

    def close(self) -> None:
        self._context.close()

    def open(self, path: str, heading: str | None = None) -> Page:
        """Go to a page of the dashboard by its address."""
        self.page.goto(f"{self.address}/#/{path}")
        if heading is not None:
            expect(self.page.get_by_role("heading", level=1)).to_have_text(heading)
        return self.page

    def button(self, name: str, within: Locator | None = None) -> Locator:
        return (within or self.page).get_by_role("button", name=name, exact=True)

    @property
    def dialog(self) -> Locator:
        return self.page.get_by_role("dialog")

    def confirm(self, verb: str, *, jobs: int | None = None, typed: str | None = None) -> str:
        """Agree to the act that is asked about; its command line."""
        if jobs is not None:
            expect(self.dialog.locator(".counted strong")).to_have_text(f"{jobs:,}")
        same = self.dialog.get_by_text("The same from a terminal")
        same.click()
        lines: list[str] = self.dialog.locator(".code code").all_inner_texts()
        command, request = lines
        assert command.startswith("ferryman ")
        assert request.startswith("curl ")
        assert self.address in request
        if typed is not None:
            expect(self.button(verb, self.dialog)).to_be_disabled()
            self.dialog.get_by_role("textbox").fill(typed)
        self.button(verb, self.dialog).click()
        expect(self.dialog).to_have_count(0)
        return command

    def beyond(self) -> list[str]:
        """What can be used but lies, in part, beyond the left or right edge of the screen."""
        found: list[str] = self.page.evaluate(_BEYOND)
        return found

    @property
    def wrong(self) -> list[str]:
        """What the content security policy or the browser's own checks found."""
        blocked: list[str] = self.page.evaluate("window.wrong ?? []")
        return [*self._troubles, *blocked]

    def barriers(self) -> list[str]:
        """What axe-core finds that keeps people from using this page."""
        # Through the debugger, which the page's policy does not govern.
        if not self.page.evaluate("typeof axe === 'object'"):
            self.page.evaluate(AXE.read_text())
        found: dict[str, Any] = self.page.evaluate(
            "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa',"
            " 'best-practice']})"
        )
        return [
            f"{one['id']}: {one['help']}: {node['html'][:300]} {node['failureSummary'][:300]}"
            for one in found["violations"]
            for node in one["nodes"]
        ]

    def requests(self, during: Callable[[], object]) -> list[str]:
        """The addresses that the page asked for meanwhile."""
        before = len(self.asked)
        during()
        return self.asked[before:]
