"""Who may be next: append-only logs beside the jobs. Hints, never truth, never synced.

`.ready/<priority>.<start>m` and `…h` hold one line `[ready_at, seq, task, id]` for each time a job
became pending, in the minute or hour in which it is due; `.expiring/` holds deadlines alike.
A job that is at rest with its hints written carries the sticky bit on its folder.
"""

from __future__ import annotations

from json.encoder import encode_basestring as quoted
from typing import TYPE_CHECKING, Final

from ferryman.job import State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferryman.backends.files.layout import Folders
    from ferryman.backends.files.row import Row
    from ferryman.backends.files.store import Store

MINUTE: Final = 60
HOUR: Final = 3_600


def announce(store: Store, folders: Folders, row: Row, now: float) -> None:
    """Write the hints for a row that is, or is about to be, pending or paused."""
    for path, line in _hints(folders, row, now):
        # The first line break ends a line that a full disk may have torn.
        store.disk.append(path, f"\n{line}\n".encode())


def announce_all(store: Store, folders: Folders, rows: Iterable[Row], now: float) -> None:
    """The same for many rows of one queue, each log written to once."""
    logs: dict[str, list[str]] = {}
    for row in rows:
        for path, line in _hints(folders, row, now):
            logs.setdefault(path, []).append(line)
    for path, lines in logs.items():
        store.disk.append(path, ("\n" + "\n".join(lines) + "\n").encode())


def _hints(folders: Folders, row: Row, now: float) -> list[tuple[str, str]]:
    """Lines, and the logs that they belong into."""
    hints = []
    if row.state is State.PENDING:
        log = f"{folders.ready}/{row.priority}.{bucket(row.ready_at, now)}"
        hints.append((log, _line(row.ready_at, row)))
    if row.deadline is not None:
        log = f"{folders.expiring}/0.{bucket(row.deadline, now)}"
        hints.append((log, _line(row.deadline, row)))
    return hints


def _line(moment: float, row: Row) -> str:
    return f"[{moment!r},{row.seq},{quoted(row.task)},{quoted(row.id)}]"


def bucket(moment: float, now: float) -> str:
    """The log for a moment: the minute when it is due within the hour, else the hour."""
    due = int(moment if moment > now else now)
    return f"{due - due % HOUR}h" if due > now + HOUR else f"{due - due % MINUTE}m"


def parse_bucket(name: str) -> tuple[int, int, int] | None:
    """Priority, first second and end of a log's name; None for what is no log."""
    try:
        priority, start = name.rsplit(".", 1)
        length = {"m": MINUTE, "h": HOUR}[start[-1]]
        return int(priority), int(start[:-1]), int(start[:-1]) + length
    except (ValueError, KeyError, IndexError):
        return None
