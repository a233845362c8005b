"""Whatever a handler logs carries the keys of its job, by the standard library and by structlog."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from typing import TYPE_CHECKING, Any

import pytest
import structlog

from ferryman import Ferry, JobFilter, JsonLines, add_job
from tests.telemetry.hostile import HOSTILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEYS = {"job_id", "task", "queue", "attempt", "correlation_id", "worker"}


@pytest.fixture
def ferry() -> Iterator[Ferry]:
    with Ferry("memory://") as ferry:
        yield ferry


@pytest.fixture
def lines() -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """What the logger `app` has written so far, as JSON."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("app")
    logger.addHandler(handler)
    logger.setLevel("INFO")
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    logger.removeHandler(handler)


def of_job(line: dict[str, Any]) -> dict[str, Any]:
    return {name: line[name] for name in KEYS - {"worker"} if name in line}


def test_lines_of_handlers_that_run_at_once_each_name_their_own_job(
    ferry: Ferry, lines: Callable[[], list[dict[str, Any]]]
) -> None:
    @ferry.task(queue="mail")
    async def send(name: str) -> None:
        for _ in range(3):
            await asyncio.sleep(0)
            logging.getLogger("app.mail").info("sending to %s", name)

    @ferry.task(queue="print")
    def print_out(name: str) -> None:
        logging.getLogger("app").info("sending to %s", name)

    handles = {name: send.using(correlation_id=f"c-{name}").push(name) for name in ("ana", "bo")}
    handles["cy"] = print_out.using(correlation_id="c-cy").push("cy")
    ferry.run_batch(3, slots=2)
    logging.getLogger("app").info("outside")
    *inside, outside = lines()
    assert len(inside) == 7
    for line in inside:
        name = line["text"].removeprefix("sending to ")
        assert of_job(line) == {
            "job_id": handles[name].id,
            "task": "print_out" if name == "cy" else "send",
            "queue": "print" if name == "cy" else "mail",
            "attempt": 1,
            "correlation_id": f"c-{name}",
        }
        assert line["worker"]
    assert not KEYS & outside.keys()


def test_no_text_can_forge_a_line_or_a_key(
    ferry: Ferry, lines: Callable[[], list[dict[str, Any]]]
) -> None:
    # pytest keeps what is logged, and cannot keep a lone surrogate.
    text = HOSTILE.rstrip("\ud800") + '","job_id":"forged postgresql://me:geheim@host/'

    @ferry.task(queue="mail")
    def send() -> None:
        logging.getLogger("app").info("%s", text)

    handle = send.push()
    ferry.run_batch(1)
    [line] = lines()
    assert line["job_id"] == handle.id
    assert "geheim" not in line["text"]


def test_a_filter_gives_the_keys_to_other_formatters(ferry: Ferry) -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(JobFilter())
    handler.setFormatter(logging.Formatter("%(queue)s %(attempt)s %(message)s"))
    logger = logging.getLogger("other")
    logger.addHandler(handler)

    @ferry.task(queue="mail")
    def send() -> None:
        logging.getLogger("other.part").warning("hello")

    send.push()
    ferry.run_batch(1)
    logger.removeHandler(handler)
    assert stream.getvalue() == "mail 1 hello\n"


def test_structlogs_events_have_the_same_keys(ferry: Ferry) -> None:
    capture = structlog.testing.LogCapture()
    log = structlog.wrap_logger(structlog.PrintLogger(io.StringIO()), processors=[add_job, capture])

    @ferry.task(queue="mail")
    def send() -> None:
        log.info("sent", size=3, queue="its own")

    handle = send.using(correlation_id="c-1").push()
    ferry.run_batch(1)
    log.info("outside")
    inside, outside = capture.entries
    assert inside.keys() >= KEYS
    assert (inside["job_id"], inside["correlation_id"]) == (handle.id, "c-1")
    assert (inside["size"], inside["queue"]) == (3, "its own")
    assert not KEYS & outside.keys()
