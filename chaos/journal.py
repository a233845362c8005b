"""Where a process writes its records so that they survive its own SIGKILL."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

from chaos.cast import node_of
from chaos.records import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from chaos.records import Record


class Journal:
    """A file of one JSON line for each record; threads may share it, and lives follow each other.

    What `write` was called for is in the file when it returns: the kernel keeps it, whoever dies.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.node = node_of(path.stem)
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, record: Record) -> None:
        line = json.dumps([time.time(), type(record).__name__, *record])
        # A kill can tear the line where it crosses a page; the leading newline keeps a torn one
        # from spoiling the first of the next life.
        os.write(self._file, f"\n{line}\n".encode())

    def read(self) -> Iterator[Record]:
        """Every whole record so far, in the order of writing."""
        return read(self._path)


def read(path: Path) -> Iterator[Record]:
    """The whole records of a journal; torn lines are passed over."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if (record := _record(line)) is not None:
                yield record


def _record(line: str) -> Record | None:
    try:
        _, kind, *fields = json.loads(line)
    except ValueError:
        return None
    return KINDS[kind](*fields)


def story(paths: Iterable[Path], job_id: str) -> list[str]:
    """The lines about one job, in order of time: to look into what went wrong."""
    quoted = json.dumps(job_id)
    lines = [
        f"{line.strip()}  {path.stem}"
        for path in paths
        for line in path.read_text(encoding="utf-8").split("\n")
        if quoted in line and _record(line) is not None
    ]
    return sorted(lines, key=lambda line: float(line[1:].partition(",")[0]))
