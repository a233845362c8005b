"""The report is one file that shows everything and runs nothing."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from ferryman import Fail, Ferry, Retry
from ferryman.service.page import table
from ferryman.service.report import report
from ferryman.testing import drain
from tests.telemetry.hostile import HOSTILE

if TYPE_CHECKING:
    from ferryman.testing import FakeClock

NASTY = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</title><svg onload=alert(1)>",
    "</style><script>alert(1)</script>",
    "\"><a href='javascript:alert(1)'>x</a>",
    "' onmouseover='alert(1)",
    "<!--",
    "]]><iframe src=//evil.example>",
    "&lt;script&gt;",
    "{{7*7}}${7*7}",
)
TAGS = {"html", "meta", "title", "style", "h1", "h2", "p", "dl", "div", "dt", "dd", "section"}
TAGS |= {"table", "tr", "th", "td"}
ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "name", "class", "scope"}


class Reader(HTMLParser):
    """Every tag with its attributes, and all text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_data(self, data: str) -> None:
        self.text += data


def test_it_shows_every_part_of_a_store(ferry: Ferry, clock: FakeClock) -> None:
    @ferry.task(queue="mail")
    def send(to: str) -> None:
        if to != "ada":
            raise Fail(f"no such address: {to!r}")

    ferry.schedule("nightly", "send", cron="0 3 * * *", payload="ada", queue="mail")
    for to in ("ada", "bo", "cy"):
        send.push(to)
    drain(ferry)
    send.push("later")
    clock.advance(500)
    page = Reader(report(ferry.backend, "sqlite:///jobs.db"))
    assert page.tags <= TAGS
    assert page.attributes <= ATTRIBUTES
    for text in ("sqlite:///jobs.db", "mail", "no such address", "8 min", "round trip"):
        assert text in page.text
    assert re.search(r"2\s*send\s*no such address", re.sub(r"(?<=\d)(?=[a-z])", " ", page.text))


def test_it_holds_no_payload_no_result_and_no_password(ferry: Ferry) -> None:
    @ferry.task(queue="mail", retry=Retry(1))
    def send(secret: str) -> str:
        if secret == "canary-1":  # noqa: S105
            return "canary-result"
        raise ValueError("cannot reach postgresql://me:canary-password@host/db")

    send.push("canary-1")
    send.push("canary-2")
    drain(ferry)
    page = report(ferry.backend, "memory://")
    assert "postgresql://me:***@host/db" in page
    assert "canary" not in page


def test_no_text_becomes_markup(ferry: Ferry) -> None:
    for number, nasty in enumerate((*NASTY, HOSTILE.rstrip("\ud800"))):
        text = re.sub(r"[\x00-\x1f\x7f-\x9f]", "", nasty)

        @ferry.task(name=text, queue=text)
        def fail(said: str) -> None:
            raise Fail(said)

        fail.using(id=f"{number}{text}").push(nasty)
        ferry.backend.write_cell(f"worker/{text}", '{"host":"<b>","version":"<i>"}', expect=None)
        ferry.backend.write_cell(f"breaker/{text}", '{"problem":"<b>"}', expect=None)
    drain(ferry)
    text = report(ferry.backend, NASTY[2])
    page = Reader(text)
    assert page.tags <= TAGS
    assert page.attributes <= ATTRIBUTES
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2028]", text)
    for nasty in NASTY:
        assert nasty in page.text


def test_the_only_style_is_the_one_that_its_policy_names(ferry: Ferry) -> None:
    text = report(ferry.backend, "memory://")
    [style] = re.findall(r"<style>(.*?)</style>", text, re.S)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'" in text
    assert "prefers-color-scheme: dark" in style
    assert "url(" not in style
    assert "http" not in style


def test_what_a_job_says_names_no_class() -> None:
    assert 'class="failed"' in table(("state",), [("failed",)])
    assert "class=" not in table(("state",), [('failed" onclick="x',)]).replace('class="wide"', "")
