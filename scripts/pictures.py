"""Takes the pictures of the docs again: an invented shop, a real worker, Chromium."""

from __future__ import annotations

import json
import math
import random
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from playwright.sync_api import sync_playwright

from ferryman import Fail, Ferry, Retry, State, collect
from ferryman.job import Job, JobError, LogLine
from ferryman.testing.waiting import wait_until
from ferryman.web import asgi
from ferryman.web.server import Server
from ferryman.worker.rollup import HISTORY_CELLS, SPAN, STEP, Ended
from ferryman.worker.settings import Settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FOLDER: Final = Path(__file__).parent.parent / "docs" / "pictures"
TOKEN: Final = "for-the-length-of-one-picture-0123456789"  # noqa: S105
SLOTS: Final = {"mail": 4, "images": 2, "ledger": 1, "archive": 4, "extract": 3, "rank": 1}


@dataclass(frozen=True, slots=True)
class Picture:
    """One of them: where, and how large."""

    name: str
    path: str
    theme: str = "light"
    width: int = 1200
    height: int = 750
    keys: str = ""


PICTURES: Final = (
    Picture("overview", "", height=820),
    Picture("overview-dark", "", theme="dark"),
    Picture("queue", "queues/mail", height=1000),
    Picture("jobs", "jobs?where=state%3Apending%2Cprocessing%2Cfailed", keys="jjx"),
    Picture("job", "jobs/invoice-1042", height=900),
    Picture("failures", "failures"),
    Picture("run", "runs/gazette-2026-11-16", theme="dark"),
    Picture("telephone", "", width=360, height=700),
)


def main() -> int:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, Ferry(f"sqlite:///{folder}/shop.db") as ferry:
        shop(ferry)
        gazette(ferry)
        orders(ferry)
        past(ferry)
        worker = ferry.worker(SLOTS, Settings(drain=1.0))
        worker.start()
        wait_until(lambda: failed(ferry) > 3, what="the shop to have failures")
        app = asgi(ferry, token=TOKEN, environment="production", rate=10_000.0)
        with Server(app, "127.0.0.1", 0) as server, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
            )
            for picture in PICTURES:
                take(browser, server.address, picture)
            browser.close()
        worker.stop()
        worker.join()
    return 0


def take(browser: Browser, address: str, picture: Picture) -> None:
    context = browser.new_context(
        viewport={"width": picture.width, "height": picture.height},
        color_scheme="dark" if picture.theme == "dark" else "light",
        reduced_motion="reduce",
        timezone_id="UTC",
    )
    page = context.new_page()
    page.goto(f"{address}/#token={TOKEN}")
    page.get_by_role("heading", name="Overview").wait_for()
    page.goto(f"{address}/#/{picture.path}")
    page.locator(".live", has_text="live").wait_for()
    page.locator(".loading").wait_for(state="detached")
    # For the charts: history has to come, and ages to be seen a few times.
    page.wait_for_timeout(9_000 if picture.path == "" else 1_500)
    for key in picture.keys:
        page.keyboard.press(key)
    path = FOLDER / f"{picture.name}.png"
    page.screenshot(path=str(path), animations="disabled", caret="hide")
    sys.stderr.write(f"{path.name} {path.stat().st_size // 1024} KB\n")
    context.close()


def failed(ferry: Ferry) -> int:
    return ferry.backend.snapshot().count(State.FAILED)


def shop(ferry: Ferry) -> None:
    """Tasks that take their time and sometimes fail."""
    chance = random.Random(7)  # noqa: S311

    @ferry.task(queue="mail", retry=Retry(3, base=0.3, cap=1))
    def send(to: str, template: str, job: Job) -> str:
        job.log(f"connecting to mx.example.org for {to}")
        time.sleep(0.15)
        if chance.random() < 0.08:
            raise ConnectionError("mx.example.org: no answer within 10 s")
        return f"250 OK {to} {template}"

    @ferry.task(queue="images", timeout=120)
    def thumbnail(image: int, job: Job) -> dict[str, int]:
        for tile in range(40):
            job.progress(tile * 2.5, f"tile {tile} of 40")
            time.sleep(0.5)
        return {"image": image, "bytes": 9_007_199_254_740_993}

    @ferry.task(queue="ledger", needs=["bank"], retry=Retry(1))
    def book(invoice: int) -> None:
        raise TimeoutError("bank.example.org did not answer")

    ferry.breaker("bank", threshold=2, cooldown=600)
    ferry.schedule("closing", book, 1, cron="30 2 * * 1-5", tz="Europe/Berlin")


def gazette(ferry: Ferry) -> None:
    """A pipeline with pages that cannot be read."""

    @ferry.task(queue="archive")
    def archive(day: str) -> list[int]:
        return list(range(64))

    @ferry.task(queue="extract", retry=Retry(1))
    def extract(page: int) -> int:
        time.sleep(0.02 + page % 5 / 60)
        if page % 23 == 9:
            raise Fail(f"page {page} has no text layer")
        return page

    @ferry.task(queue="rank")
    def rank(pages: list[int]) -> int:
        time.sleep(0.4)
        return sum(pages)

    ferry.pipeline("gazette", archive >> extract >> collect(rank, failed="skip"))


def orders(ferry: Ferry) -> None:
    """What the shop has to do."""
    for day in (14, 15, 16):
        run = ferry.pipelines["gazette"].using(id=f"gazette-2026-11-{day}")
        run.push(f"2026-11-{day}")
    meta = {"campaign": "november", "user_id": "42"}
    ferry.backend.restore([_invoice(ferry.backend.clock.now() - 90, meta)])
    for number in range(220):
        mail = {"to": f"user{number}@example.org", "template": TEMPLATES[number % 4]}
        ferry.push("send", mail, meta=meta)
    for number in range(30):
        ferry.push("thumbnail", number, priority=0 if number % 5 else 10)
        late = {"to": f"late{number}@example.org", "template": "reminder"}
        ferry.push("send", late, delay=3_600.0 + number)
    for number in range(6):
        ferry.push("book", number)
    ferry.push("resize", {"video": 7}, queue="videos")


TRACE: Final = """Traceback (most recent call last):
  File "/srv/shop/mail.py", line 41, in send
    server = smtplib.SMTP("mx.example.org", timeout=10)
  File "/usr/lib/python3.11/smtplib.py", line 255, in __init__
    (code, msg) = self.connect(host, port)
ConnectionError: mx.example.org: no answer within 10 s
"""


def _invoice(at: float, meta: dict[str, str]) -> Job:
    """Three attempts, written by hand: a real traceback would name this machine's folders."""
    text = "ConnectionError: mx.example.org: no answer within 10 s"
    errors = [
        JobError(n, at + after, f"shop-{n}:4711:a1b2c3", "ConnectionError", text, TRACE)
        for n, after in enumerate((10.4, 24.9, 51.2), start=1)
    ]
    return Job(
        id="invoice-1042",
        queue="mail",
        task="send",
        body='{"to":"ada@example.org","template":"invoice","amount":9007199254740993}',
        state=State.FAILED,
        priority=10,
        ready_at=at,
        seq=0,
        version=1,
        attempts=3,
        max_attempts=3,
        fence=3,
        generation=1,
        given_back=0,
        created_at=at,
        started_at=at + 41.1,
        finished_at=at + 51.2,
        worker="shop-3:4711:a1b2c3",
        meta=meta,
        error=text,
        errors=tuple(errors),
        logs=(LogLine(at + 41.1, "connecting to mx.example.org for ada@example.org"),),
    )


TEMPLATES: Final = ("welcome", "invoice", "digest", "reminder")


def past(ferry: Ferry) -> None:
    """An hour of history, as workers would have written it."""
    chance = random.Random(11)  # noqa: S311
    now = int(ferry.backend.clock.now())
    first = now - now % STEP - SPAN
    spans: dict[int, dict[int, dict[str, object]]] = {}
    for at in range(first, now - now % STEP, STEP):
        wave = 1 + 0.5 * math.sin(at / 900)
        busy = {queue: _ended(chance, wave, scale) for queue, scale in BUSY.items()}
        facts = {queue: ended.to_json() for queue, ended in busy.items()}
        spans.setdefault(at - at % SPAN, {})[at] = {**facts}
    for span, buckets in spans.items():
        key = f"{HISTORY_CELLS}{span}/yesterday"
        ferry.backend.write_cell(key, json.dumps(buckets), expect=None, ttl=86_400.0)


BUSY: Final = {"mail": 900, "images": 80, "extract": 400}


def _ended(chance: random.Random, wave: float, scale: int) -> Ended:
    ended = Ended()
    done = int(scale * wave * chance.uniform(0.85, 1.15))
    ended.counts.update(
        done=done, failed=int(done * chance.uniform(0.01, 0.05)), retried=int(done * 0.06)
    )
    for _ in range(200):
        ended.wait.add(chance.lognormvariate(-1.5 + wave, 0.9))
        ended.run.add(chance.lognormvariate(-1.6, 0.6))
    return ended


if __name__ == "__main__":
    raise SystemExit(main())
