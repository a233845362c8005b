"""The backends that a campaign can run on: one entry each, or one for each way to run them."""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from chaos.cast import ALONE, CLOUD, FLEET, HOUSE, SERVED
from chaos.cloud import alone, ledgered
from chaos.fleet import fleet
from chaos.inspection import inspect_files, inspect_sqlite
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
    unless the caller says how many. `option` chooses it among others of the same backend.
    """

    name: str
    lay_out: Callable[[Path], AbstractContextManager[Site]]
    cast: Cast = HOUSE
    terms: Terms = STERN
    kills: int = 1_000
    option: str = ""


def _sqlite(folder: Path) -> AbstractContextManager[Site]:
    return _alone(f"sqlite:///{folder}/jobs.db", partial(inspect_sqlite, folder / "jobs.db"))


def _file(folder: Path) -> AbstractContextManager[Site]:
    return _alone(f"file://{folder}/queues", partial(inspect_files, folder / "queues"))


@contextmanager
def _alone(url: str, inspect: Callable[[], Sequence[str]]) -> Iterator[Site]:
    yield Site({"": url}, url, lambda: Remains(inspect()))


_S3_KILLS: Final = 200
_SQS_KILLS: Final = 500
"""In the meantime 5,000 jobs are pushed."""
_SECOND: Final = 1.0
"""The server's time is known to within one."""

STORES: Final = {
    "sqlite": (Store("sqlite", _sqlite),),
    "file": (Store("file", _file),),
    "postgresql": (Store("postgresql", served, SERVED),),
    "sqs": (
        Store("sqs", ledgered, CLOUD, kills=_SQS_KILLS, option="--ledger sqlite"),
        Store(
            "sqs alone",
            alone,
            ALONE,
            Terms(at_least_once=True),
            _SQS_KILLS,
            "--ledger none",
        ),
    ),
    "s3": (
        Store(
            "s3",
            partial(fleet, FLEET.nodes, "strict"),
            replace(FLEET, wiped=True),
            Terms(clock=_SECOND),
            _S3_KILLS,
            "--consistency strict",
        ),
        Store(
            "s3 relaxed",
            partial(fleet, FLEET.nodes, "relaxed"),
            FLEET,
            Terms(clock=_SECOND, relaxed=True),
            _S3_KILLS,
            "--consistency relaxed",
        ),
    ),
}

REFUSED: Final = {
    "memory": "its jobs live in one process and die with it, so a kill proves nothing",
}


def stores_named(name: str, *options: str) -> Sequence[Store]:
    """The entries of a backend, or those of the options; `ValueError` says why there is none."""
    if name in REFUSED:
        raise ValueError(f"{name} cannot run under kills: {REFUSED[name]}")
    if name not in STORES:
        raise ValueError(f"no campaign for backend {name!r}: use {', '.join(STORES)}")
    found = [store for store in STORES[name] if not options or options == (store.option,)]
    if not found:
        raise ValueError(f"{name} cannot be run so: leave {' and '.join(options)} out")
    return found
