"""What a database or a folder of files says about itself when every process is gone."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def inspect_sqlite(path: Path) -> Sequence[str]:
    with closing(sqlite3.connect(path)) as connection:
        found = [text for (text,) in connection.execute("PRAGMA integrity_check")]
    return [] if found == ["ok"] else [f"integrity_check: {text}" for text in found]


def inspect_files(root: Path) -> Sequence[str]:
    """One place for each id, no folder without a task, and nothing set aside as unreadable."""
    places: dict[str, list[str]] = {}
    wrong = []
    for queue in (entry for entry in root.iterdir() if not entry.name.startswith(".")):
        for job in (queue / "pending").iterdir():
            places.setdefault(job.name, []).append(f"{queue.name}/pending")
            if not (job / "task.json").exists():
                wrong.append(f"{queue.name}/pending/{job.name} has no task.json")
        for end in ("completed", "failed", "cancelled"):
            for record in (queue / end).glob("*.json"):
                places.setdefault(record.stem, []).append(f"{queue.name}/{end}")
        wrong += [f"set aside: {file}" for file in (queue / "quarantine").iterdir()]
    wrong += [f"{name} is in {found}" for name, found in places.items() if len(found) > 1]
    return wrong
