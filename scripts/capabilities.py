"""Writes the table of capabilities into docs/promises.md, from the backends themselves."""

import sys
import tempfile
from dataclasses import fields
from pathlib import Path

from ferryman.queue.capabilities import Capabilities
from ferryman.queue.open import BACKENDS, open_backend

PAGE = Path(__file__).resolve().parent.parent / "docs" / "promises.md"
START, END = "<!-- capabilities -->\n", "<!-- /capabilities -->"


def table() -> str:
    """The capabilities of every backend, opened for real."""
    with tempfile.TemporaryDirectory() as folder:
        urls = {"memory": "memory://", "sqlite": f"sqlite:///{folder}/jobs.db"}
        rows = [_capabilities(urls[name]) for name in BACKENDS]
    names = [field.name for field in fields(Capabilities) if field.name != "backend"]
    lines = [
        f"| | {' | '.join(row.backend for row in rows)} |",
        f"|---|{'---|' * len(rows)}",
        *(f"| {name.replace('_', ' ')} | {_cells(rows, name)} |" for name in names),
    ]
    return "\n".join(lines) + "\n"


def page(text: str) -> str:
    """The page with the table of now."""
    before, _, rest = text.partition(START)
    return before + START + table() + END + rest.partition(END)[2]


def _capabilities(url: str) -> Capabilities:
    backend = open_backend(url)
    try:
        return backend.capabilities
    finally:
        backend.close()


def _cells(rows: list[Capabilities], name: str) -> str:
    words = {True: "yes", False: "no", None: "no limit"}
    values = [getattr(row, name) for row in rows]
    return " | ".join(words.get(value, str(value)) for value in values)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
    sys.stdout.write(table())
