from __future__ import annotations

import io
import json
import logging
import shlex
from typing import TYPE_CHECKING

import pytest

from ferryman.telemetry.lines import LOGGER, configure, text_line

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _own_logger() -> Iterator[None]:
    """The process's loggers, put back as they were."""
    logger = logging.getLogger(LOGGER)
    before = logger.handlers[:], logger.level, logger.propagate
    yield
    logger.handlers[:], logger.level, logger.propagate = before


@pytest.mark.parametrize(
    "hostile",
    ['a" level=fake', "a\\", 'a\\" level=fake', "a\nERROR forged", "a=b", "", " ", "\x1b[31m"],
)
def test_no_value_can_forge_a_field_or_a_line(hostile: str) -> None:
    line = text_line("job failed", {"error": hostile, "end": 1})
    assert line.isprintable()
    words = shlex.split(line)
    assert words[:2] == ["job", "failed"]
    assert [word.partition("=")[0] for word in words[2:]] == ["error", "end"]


def test_text_lines_carry_time_level_and_logger() -> None:
    stream = io.StringIO()
    configure("info", "text", stream)
    logging.getLogger("ferryman.jobs").info("job completed id=%s", "a\nb")
    logging.getLogger("ferryman.jobs").debug("not wanted")
    time, rest = stream.getvalue().split(" ", 1)
    assert time.endswith("Z")
    assert rest == "INFO ferryman.jobs job completed id=a\\nb\n"


def test_json_lines_are_one_object_each_even_for_other_records() -> None:
    stream = io.StringIO()
    configure("debug", "json", stream)
    try:
        raise ValueError("x\u2028y")
    except ValueError:
        logging.getLogger("ferryman.events").exception("subscriber of %s raised", "job.failed")
    (line,) = stream.getvalue().splitlines()
    record = json.loads(line)
    assert (record["level"], record["logger"]) == ("error", "ferryman.events")
    assert record["text"] == "subscriber of job.failed raised"
    assert "ValueError" in record["traceback"]


def test_the_root_logger_is_left_alone_and_lines_appear_once() -> None:
    root = logging.getLogger()
    before = root.handlers[:], root.level
    stream, others = io.StringIO(), io.StringIO()
    configure("info", "text", stream)
    handler = logging.StreamHandler(others)
    assert (root.handlers[:], root.level) == before
    root.addHandler(handler)
    try:
        logging.getLogger("ferryman.worker").info("hello")
    finally:
        root.removeHandler(handler)
    assert others.getvalue() == ""
    assert "hello" in stream.getvalue()
