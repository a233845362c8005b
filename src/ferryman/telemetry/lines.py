"""How a log record looks: a line of text with key=value fields, or a line of JSON."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, TextIO

from ferryman.telemetry.context import job_fields
from ferryman.telemetry.escape import json_safe, one_line
from ferryman.telemetry.redaction import redacted_text

LogFormat = Literal["text", "json"]

LOGGER = "ferryman"
FIELDS = "ferryman_fields"
"""The attribute of a record that holds its event and fields, for formatters of your own."""
MAX_VALUE = 1_000

_BARE = re.compile(r"[^\s\"'=\\]+")


def configure(level: str, log_format: LogFormat, stream: TextIO | None = None) -> logging.Handler:
    """Write Ferryman's own loggers to `stream` (standard error); the root logger is left alone."""
    logger = logging.getLogger(LOGGER)
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines() if log_format == "json" else TextLines())
    logger.addHandler(handler)
    logger.setLevel(level.upper())
    # The application may have given the root logger a handler: each line is wanted once.
    logger.propagate = False
    return handler


def text_line(text: str, fields: Mapping[str, Any]) -> str:
    """`job failed id=… task=mail error="Timeout: no answer"`; no value can forge a field."""
    return " ".join([text, *(f"{name}={_value(value)}" for name, value in fields.items())])


class TextLines(logging.Formatter):
    """`2027-01-15T08:00:00.123Z INFO ferryman.jobs job completed id=…`."""

    def format(self, record: logging.LogRecord) -> str:
        text = record.getMessage()
        # The fields of our own lines were looked through one by one.
        text = one_line(text if hasattr(record, FIELDS) else redacted_text(text))
        line = f"{_time(record)} {record.levelname} {record.name} {text}"
        if record.exc_info:
            line += f"\n{redacted_text(self.formatException(record.exc_info))}"
        return line


class JsonLines(logging.Formatter):
    """One object a line: time, level, logger, text, and the event with its fields.

    For handlers of your own too: a line that a job's handler logs has the keys of that job.
    """

    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, FIELDS, None)
        line: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            **(fields if fields is not None else _of_user(record)),
        }
        if record.exc_info:
            line["traceback"] = redacted_text(self.formatException(record.exc_info))
        return json_safe(json.dumps(line, ensure_ascii=False, default=str))


def _of_user(record: logging.LogRecord) -> dict[str, Any]:
    return {"text": redacted_text(record.getMessage()), **job_fields()}


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        # Item by item: a queue may well be called `reset-password`.
        text = ",".join(f"{name}:{redacted_text(str(item))}" for name, item in value.items())
    else:
        text = redacted_text(str(value))
    if _BARE.fullmatch(text):
        return one_line(text, MAX_VALUE)
    # Backslashes first: a value that ends in one must not swallow its closing quote.
    quoted = text[:MAX_VALUE].replace("\\", "\\\\").replace('"', '\\"')
    return f'"{one_line(quoted)}"'
