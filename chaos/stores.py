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


STORES = {
    store.name: store
    for store in [Store("sqlite", lambda folder: f"sqlite:///{folder}/jobs.db", _inspect_sqlite)]
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
