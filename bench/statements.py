"""The time inside SQLite, by statement: what of a verb's price is the store's own."""

from __future__ import annotations

import sqlite3
import time
from collections import defaultdict
from contextlib import contextmanager
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType


class Statements:
    """While the block lasts, every SQLite connection that is opened keeps a book of its calls."""

    def __init__(self) -> None:
        self._book: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        self._sections: dict[str, int] = {}
        self._section: str | None = None
        self._real = (sqlite3.connect, sqlite3.Cursor)

    @contextmanager
    def of(self, section: str, jobs: int) -> Iterator[None]:
        """Book what is called in the block under this name, for so many jobs."""
        self._section = section
        self._sections[section] = self._sections.get(section, 0) + jobs
        try:
            yield
        finally:
            self._section = None

    def lines(self) -> Iterator[str]:
        """The book as text: microseconds a job, most first."""
        for section in self._sections:
            booked = [
                (text, times) for (name, text), times in self._book.items() if name == section
            ]
            if booked:
                yield f"\n  inside SQLite: {section}"
            for text, times in sorted(booked, key=lambda pair: -self._micros(section, pair[1])):
                yield f"    {text:<44} {self._micros(section, times):>8.2f}"

    def _micros(self, section: str, times: Sequence[float]) -> float:
        # The median, because a sum is ruled by the few calls that were disturbed.
        return median(times) * len(times) * 1e6 / self._sections[section]

    def __enter__(self) -> Statements:
        sqlite3.connect, sqlite3.Cursor = self._connect, self._cursor()  # type: ignore[misc, assignment]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        sqlite3.connect, sqlite3.Cursor = self._real  # type: ignore[misc]

    @contextmanager
    def _timed(self, text: str) -> Iterator[None]:
        if self._section is None:
            yield
            return
        started = time.perf_counter()
        yield
        seconds = time.perf_counter() - started
        self._book[self._section, " ".join(text.splitlines()[0].split())[:36]].append(seconds)

    def _connect(self, *args: Any, **kwargs: Any) -> sqlite3.Connection:
        timed = self._timed

        class Connection(sqlite3.Connection):
            def execute(self, *statement: Any) -> sqlite3.Cursor:
                with timed(statement[0]):
                    return super().execute(*statement)

        return self._real[0](*args, **kwargs, factory=Connection)

    def _cursor(self) -> type[sqlite3.Cursor]:
        timed = self._timed

        class Cursor(sqlite3.Cursor):
            def execute(self, *statement: Any) -> Cursor:
                with timed(statement[0]):
                    return super().execute(*statement)

            def executemany(self, *statement: Any) -> Cursor:
                with timed(statement[0]):
                    return super().executemany(*statement)

            def fetchall(self) -> list[Any]:
                with timed("fetch rows"):
                    return super().fetchall()

        return Cursor
