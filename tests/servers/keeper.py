"""Starts one server and stops it when nobody uses it any more, however its users died.

Users hold a shared lock on one file. The keeper waits for the exclusive lock, which the kernel
gives it when the last of them has closed the file, been killed or run into the session's end.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.servers.kinds import HOST, KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.servers.kinds import Kind

PATIENCE: Final = 30.0
STARTS: Final = 3


def main() -> None:
    name, place = sys.argv[1:]
    folder = Path(place)
    address_file = folder / "address"
    try:
        server, address = _started(KINDS[name], folder)
    except Exception as error:
        (folder / "failure").write_text(f"{name}: {error}")
        raise
    try:
        _put(address_file, address)
        with (folder / "users").open("w") as users:
            fcntl.flock(users, fcntl.LOCK_EX)
            _end(server, folder)
            # Still under the lock: who comes now waits, then starts another.
            address_file.unlink()
    finally:
        _end(server, folder)


def _started(kind: Kind, folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    for _ in range(STARTS):
        ports = _free_ports(kind.ports)
        server = _popen(kind, ports, folder)
        address = f"http://{HOST}:{ports[0]}"
        if _serves(kind, server, address):
            return server, address
        # Somebody else took a port in between, perhaps.
        _end(server, folder)
    raise RuntimeError(f"it did not start, see {folder / 'log'}:\n{tail(folder / 'log')}")


def _popen(kind: Kind, ports: Sequence[int], folder: Path) -> subprocess.Popen[bytes]:
    data = folder / "data"
    data.mkdir(exist_ok=True)
    # Keys in its surroundings would make SeaweedFS refuse every other key.
    plain = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            kind.command(ports, data),
            cwd=data,
            env={**plain, **kind.environment(ports)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _serves(kind: Kind, server: subprocess.Popen[bytes], address: str) -> bool:
    deadline = time.monotonic() + PATIENCE
    while server.poll() is None and time.monotonic() < deadline:
        try:
            if kind.ready(address):
                return True
        except OSError:
            pass
        time.sleep(0.02)
    return False


def _end(server: subprocess.Popen[bytes], folder: Path) -> None:
    # Asked politely, SeaweedFS takes eighteen seconds; nothing here is worth saving.
    if server.poll() is None:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
    shutil.rmtree(folder / "data", ignore_errors=True)


def _free_ports(count: int) -> Sequence[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for taken in sockets:
            taken.bind((HOST, 0))
        return [taken.getsockname()[1] for taken in sockets]
    finally:
        for taken in sockets:
            taken.close()


def _put(path: Path, text: str) -> None:
    whole = path.with_suffix(".new")
    whole.write_text(text)
    whole.rename(path)


def tail(log: Path, lines: int = 40) -> str:
    """The last lines of a log."""
    if not log.exists():
        return "no log"
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])


if __name__ == "__main__":
    main()
