"""The backends that a campaign can run on: one entry each, or one for each way to run them."""

from __future__ import annotations

import sqlite3
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from chaos.cast import FLEET, HOUSE, SERVED
from chaos.fleet import fleet
from chaos.served import served
from chaos.site import Remains, Site
from chaos.terms import STERN, Terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from chaos.cast import Cast


@dataclass(frozen=True, slots=True)
class Store:
    """A backend as a campaign sees it.

    `lay_out` makes a fresh store in a folder, for as long as the context lasts. `kills` are made
    unless the caller says how many.
    """

    name: str
    lay_out: Callable[[Path], AbstractContextManager[Site]]
    cast: Cast = HOUSE
    terms: Terms = STERN
    kills: int = 1_000


def _sqlite(folder: Path) -> AbstractContextManager[Site]:
    return _alone(f"sqlite:///{folder}/jobs.db", partial(_inspect_sqlite, folder / "jobs.db"))


def _file(folder: Path) -> AbstractContextManager[Site]:
    return _alone(f"file://{folder}/queues", partial(_inspect_files, folder / "queues"))


@contextmanager
def _alone(url: str, inspect: Callable[[], Sequence[str]]) -> Iterator[Site]:
    yield Site({"": url}, url, lambda: Remains(inspect()))


def _inspect_sqlite(path: Path) -> Sequence[str]:
    with closing(sqlite3.connect(path)) as connection:
        found = [text for (text,) in connection.execute("PRAGMA integrity_check")]
    return [] if found == ["ok"] else [f"integrity_check: {text}" for text in found]


def _inspect_files(root: Path) -> Sequence[str]:
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


_S3_KILLS: Final = 200
_SECOND: Final = 1.0
"""The server's time is known to within one."""

STORES: Final = {
    "sqlite": (Store("sqlite", _sqlite),),
    "file": (Store("file", _file),),
    "postgresql": (Store("postgresql", served, SERVED),),
    "s3": (
        Store(
            "s3",
            partial(fleet, FLEET.nodes, "strict"),
            replace(FLEET, wiped=True),
            Terms(clock=_SECOND),
            _S3_KILLS,
        ),
        Store(
            "s3 relaxed",
            partial(fleet, FLEET.nodes, "relaxed"),
            FLEET,
            Terms(clock=_SECOND, relaxed=True),
            _S3_KILLS,
        ),
    ),
}

REFUSED: Final = {
    "memory": "its jobs live in one process and die with it, so a kill proves nothing",
}


def stores_named(name: str, consistency: str | None = None) -> Sequence[Store]:
    """The entries of a backend, one after another; `ValueError` says why there is none."""
    if name in REFUSED:
        raise ValueError(f"{name} cannot run under kills: {REFUSED[name]}")
    if name not in STORES:
        raise ValueError(f"no campaign for backend {name!r}: use {', '.join(STORES)}")
    if consistency is None:
        return STORES[name]
    found = [store for store in STORES[name] if store.terms.relaxed == (consistency == "relaxed")]
    if len(STORES[name]) == 1:
        raise ValueError(f"{name} has one consistency: leave --consistency out")
    return found
