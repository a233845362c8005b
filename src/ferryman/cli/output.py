"""What commands print: aligned tables and JSON on standard output, talk on standard error."""

from __future__ import annotations

import json
import os
import shutil
import sys
import unicodedata
from typing import TYPE_CHECKING, Any, Final, TextIO

from ferryman.telemetry.escape import json_safe, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_CELL: Final = 200

_COLOURS: Final = {
    "processing": "36",
    "completed": "32",
    "failed": "31",
    "cancelled": "33",
    "paused": "33",
    "stale": "31",
    "ok": "32",
    "warning": "33",
    "problem": "31",
}


def say(text: str) -> None:
    """Talk to the person: standard error, safe for a terminal."""
    sys.stderr.write(one_line(text) + "\n")
    sys.stderr.flush()


def put(text: str = "") -> None:
    """A line of data; what stems from jobs must be escaped before."""
    sys.stdout.write(text + "\n")
    # Flushed here, so that a closed pipe is noticed while the command can still end quietly.
    sys.stdout.flush()


def put_json(value: Any) -> None:
    """One JSON document, readable by people too."""
    put(json_safe(json.dumps(value, ensure_ascii=False, indent=2)))


def put_table(headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print `table_lines`."""
    for line in table_lines(headers, rows):
        put(line)


def table_lines(headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Columns aligned by spaces, numbers to the right; without rows, only the headers.

    At a terminal the last column is cut to fit; in a pipe nothing is lost.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    if sys.stdout.isatty():
        _fit(headers, cells, shutil.get_terminal_size().columns)
    widths = [
        max([_width(header), *(_width(row[index]) for row in cells)])
        for index, header in enumerate(headers)
    ]
    right = [all(isinstance(row[i], int) for row in rows) and rows for i in range(len(headers))]

    def line(texts: Sequence[str]) -> str:
        padded = (
            _padded(text, width, bool(to_right))
            for text, width, to_right in zip(texts, widths, right, strict=True)
        )
        return "  ".join(padded).rstrip()

    return [line(headers), *map(line, cells)]


def counted(number: int, what: str = "job") -> str:
    """`1 job`, `2 jobs`; `what` is the singular and ends in its noun."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def painted(text: str) -> str:
    """A word that says how something is (`failed`, `ok`), in its colour where colours may be."""
    code = _COLOURS.get(text) if colourful() else None
    return f"\x1b[{code}m{text}\x1b[0m" if code else text


def lively(stream: TextIO) -> bool:
    """Whether it is a terminal that can be drawn over: bars and live views are only for those."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def colourful() -> bool:
    """Whether standard output is a terminal that may be coloured (https://no-color.org)."""
    return lively(sys.stdout) and not os.environ.get("NO_COLOR")


def _fit(headers: Sequence[str], cells: list[list[str]], columns: int) -> None:
    taken = sum(
        2 + max([_width(header), *(_width(row[index]) for row in cells)])
        for index, header in enumerate(headers[:-1])
    )
    for row in cells:
        row[-1] = one_line(row[-1], max(10, columns - taken))


def _cell(value: object) -> str:
    return "" if value is None else one_line(str(value), MAX_CELL)


def _padded(text: str, width: int, to_right: bool) -> str:
    space = " " * (width - _width(text))
    return space + painted(text) if to_right else painted(text) + space


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )
