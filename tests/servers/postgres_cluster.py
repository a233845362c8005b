"""A PostgreSQL server of a test's own: stopped, started again, copied to a standby, promoted."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Self

import psycopg

from ferryman.testing.waiting import wait_until
from tests.servers.kinds import HOST
from tests.servers.postgres import SETTINGS, readable_binaries, runs_as, serves

if TYPE_CHECKING:
    from collections.abc import Mapping

_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - the folder itself is made safely
_SIGNALS: Final = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT}
# What was committed survives a crash of the server, though not one of the machine.
_KEEPING: Final = {"synchronous_commit": "on", "wal_level": "replica", "max_wal_senders": "4"}
_JANITOR: Final = """
import os, shutil, signal, sys
from pathlib import Path
folder = Path(sys.argv[1])
sys.stdin.read()
for file in folder.glob("*/postmaster.pid"):
    try:
        os.kill(int(file.read_text().split()[0]), signal.SIGQUIT)
    except ProcessLookupError:
        pass
shutil.rmtree(folder, ignore_errors=True)
"""


class Cluster:
    """One server and its data, which go when this process does, in whatever way it ends."""

    def __init__(self, programs: Path | None = None, **settings: str) -> None:
        """Make the data; `programs` is the folder of another PostgreSQL than the wheel's."""
        place = _MEMORY if _MEMORY.is_dir() else None
        self._folder = Path(tempfile.mkdtemp(prefix="ferryman-cluster-", dir=place))
        self._janitor = subprocess.Popen(
            [sys.executable, "-c", _JANITOR, self._folder],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        user = runs_as()
        if user:
            os.chown(self._folder, user["user"], user["group"])
        self._programs = programs or readable_binaries(self._folder, user)
        self._servers: dict[str, Server] = {}
        self._run(
            *("initdb", "-D", self._folder / "first", "-U", "postgres", "-A", "trust"),
            *("-E", "UTF8", "--no-locale", "--no-sync"),
        )
        self.primary = self._server("first", settings)

    def standby(self, **settings: str) -> Server:
        """A copy of the primary, which must be running, that follows it."""
        self._run(
            *("pg_basebackup", "-D", self._folder / "second", "-h", HOST, "-U", "postgres"),
            *("-p", str(self.primary.port), "--write-recovery-conf", "--checkpoint=fast"),
            "--no-sync",
        )
        return self._server("second", settings)

    def close(self) -> None:
        for server in self._servers.values():
            server.stop("immediate")
        assert self._janitor.stdin is not None
        self._janitor.stdin.close()
        self._janitor.wait(20)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _server(self, name: str, settings: Mapping[str, str]) -> Server:
        made = Server(self._programs, self._folder, name, settings)
        self._servers[name] = made
        return made

    def _run(self, program: str, *words: Any) -> None:
        subprocess.run(
            [self._programs / program, *words],
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            check=True,
            **runs_as(),
        )


class Server:
    """A server that keeps its port for all its lives."""

    def __init__(
        self, programs: Path, folder: Path, name: str, settings: Mapping[str, str]
    ) -> None:
        self._programs = programs
        self._folder = folder
        self._data = folder / name
        self._settings = {**SETTINGS, **_KEEPING, **settings}
        self._process: subprocess.Popen[bytes] | None = None
        with socket.socket() as free:
            free.bind((HOST, 0))
            self.port: int = free.getsockname()[1]
        self.url = f"postgresql://postgres@{HOST}:{self.port}/postgres"

    def start(self) -> None:
        """Serve; returns when it takes connections."""
        self.launch()
        wait_until(lambda: serves(f"{HOST}:{self.port}"), timeout=30, what="the server")

    def launch(self) -> None:
        """Begin to serve, unless it does."""
        if self._process is not None:
            return
        settings = (("-c", f"{name}={value}") for name, value in self._settings.items())
        with (self._folder / f"{self._data.name}.log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    self._programs / "postgres",
                    *("-D", self._data, "-h", HOST, "-p", str(self.port), "-k", self._folder),
                    *(word for pair in settings for word in pair),
                ],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **runs_as(),
            )

    def stop(self, mode: Literal["fast", "immediate"]) -> None:
        """End it: `fast` in order, `immediate` as a crash would."""
        if self._process is None:
            return
        self._process.send_signal(_SIGNALS[mode])
        self._process.wait(30)
        self._process = None

    def promote(self) -> None:
        """Take writes from now on; returns when it does."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            [(promoted,)] = connection.execute("SELECT pg_promote()").fetchall()
        assert promoted


def apt_programs(version: int) -> Path:
    """Where Debian keeps a version of PostgreSQL; `make test-system` installs it."""
    return Path(f"/usr/lib/postgresql/{version}/bin")
