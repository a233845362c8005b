"""Who is measured against whom, and where."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.peers.entrant import Entrant
from bench.peers.npm_entrant import NpmEntrant
from bench.postgres_server import postgresql

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class League:
    """Queues on one kind of store; `home` is the folder they work in, else the current one.

    `server` serves them all while it is open.
    """

    raw: Entrant
    ours: Entrant
    peers: Sequence[Entrant]
    home: Path | None = None
    server: Callable[[], AbstractContextManager[None]] = nullcontext

    @property
    def folder(self) -> Path:
        return self.home if self.home is not None and self.home.is_dir() else Path.cwd()


LEAGUES: Final[Mapping[str, League]] = {
    "sqlite": League(
        Entrant("raw loop", "bench.raw_sqlite:RawSqlite"),
        Entrant("ferryman", "bench.ours:OursOnSqlite", "ferryman"),
        (
            Entrant("huey", "bench.peers.on_huey:HueyOnSqlite", "huey"),
            Entrant("litequeue", "bench.peers.on_litequeue:Lite", "litequeue"),
            Entrant("persist-queue", "bench.peers.on_persist_queue:Persist", "persist-queue"),
        ),
    ),
    # In memory: the peers sync nothing, and on a disk that is all one would see.
    "file": League(
        Entrant("raw loop", "bench.raw_file:RawFile"),
        Entrant("ferryman", "bench.ours:OursOnFiles", "ferryman"),
        (
            Entrant("huey", "bench.peers.on_huey:HueyOnFiles", "huey"),
            Entrant("dirq", "bench.peers.on_dirq:Dirq", "dirq"),
        ),
        Path("/dev/shm"),  # noqa: S108 - Linux has a memory file system there
    ),
    "postgresql": League(
        Entrant("raw loop", "bench.raw_postgresql:RawPostgresql"),
        Entrant("ferryman", "bench.ours:OursOnPostgresql", "ferryman"),
        (
            Entrant(
                "pgqueuer",
                "bench.peers.on_pgqueuer:Pgqueuer",
                "pgqueuer",
                ("asyncpg", "uvloop", "psycopg[binary]"),
            ),
            Entrant(
                "procrastinate",
                "bench.peers.on_procrastinate:Procrastinate",
                "procrastinate",
                ("psycopg[binary]",),
            ),
            NpmEntrant(
                "graphile-worker",
                "bench.peers.on_graphile_worker:GraphileWorker",
                "graphile-worker",
                ("psycopg[binary]",),
            ),
        ),
        server=postgresql,
    ),
}
