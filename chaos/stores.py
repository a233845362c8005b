"""The backends that a campaign can run on: one entry each."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Store:
    """A backend as a campaign sees it.

    `url` makes a fresh store in a folder and names it. `inspect` looks into what is left when every
    process is gone, and returns what is wrong in the store's own terms.
    """

    name: str
    url: Callable[[Path], str]
    inspect: Callable[[Path], Sequence[str]]


def _inspect_sqlite(folder: Path) -> Sequence[str]:
    with closing(sqlite3.connect(folder / "jobs.db")) as connection:
        found = [text for (text,) in connection.execute("PRAGMA integrity_check")]
    return [] if found == ["ok"] else [f"integrity_check: {text}" for text in found]


def _inspect_files(folder: Path) -> Sequence[str]:
    """One place for each id, no folder without a task, and nothing set aside as unreadable."""
    root = folder / "queues"
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


STORES = {
    store.name: store
    for store in [
        Store("sqlite", lambda folder: f"sqlite:///{folder}/jobs.db", _inspect_sqlite),
        Store("file", lambda folder: f"file://{folder}/queues", _inspect_files),
    ]
}

REFUSED = {
    "memory": "its jobs live in one process and die with it, so a kill proves nothing",
}


def store_named(name: str) -> Store:
    """The entry of a backend; `ValueError` says why there is none."""
    if name in REFUSED:
        raise ValueError(f"{name} cannot run under kills: {REFUSED[name]}")
    if name not in STORES:
        raise ValueError(f"no campaign for backend {name!r}: use {', '.join(STORES)}")
    return STORES[name]
