"""What people do to the files of a queue, and what a sweep makes of it at once."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from ferryman.job import JobError
from ferryman.lifecycle import Verdict
from ferryman.queue.settlement import Settlement

if TYPE_CHECKING:
    from pathlib import Path

    from ferryman.backends.files import FileBackend
    from ferryman.job import Job

LONG_AGO = 1_700_000_000.0


def drop(queue: Path, name: str, **facts: Any) -> None:
    (queue / "pending" / f"{name}.json").write_text(json.dumps({"task": "send"} | facts))


def spoil(file: Path) -> str:
    """Tear a file, so long ago that nobody can be writing it; its whole text."""
    text = file.read_text()
    file.write_text(text[:20])
    os.utime(file, (LONG_AGO, LONG_AGO))
    return text


def sweep(store: FileBackend, queue: str = "mail") -> None:
    """Now, and not when it is time to."""
    store._desk.sweeper.sweep(store._store.folders(queue))


def claim(store: FileBackend, queue: str = "mail") -> list[Job]:
    return list(store.poll("w", {queue: 10}, lease=60))


def end(store: FileBackend, verdict: Verdict = Verdict.ACK) -> None:
    """Claim the one job there is, and let it end."""
    [job] = claim(store)
    error = None if verdict is Verdict.ACK else JobError(1, 0.0, "w", "ValueError", "boom")
    assert store.settle([Settlement.of(job, verdict, error=error)])[0].applied


def reasons(store: FileBackend) -> list[str]:
    return [trouble.reason for trouble in store.troubles()]


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
