"""PgBouncer between transactions: each of them may be answered by another process of the server."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from psycopg.conninfo import conninfo_to_dict

from ferryman.testing.waiting import wait_until
from tests.servers.kinds import HOST
from tests.servers.postgres import runs_as, serves

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM: Final = Path("/usr/sbin/pgbouncer")
_SETTINGS: Final = """
[databases]
* = host={host} port={server} user={user}
[pgbouncer]
listen_addr = {address}
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 20
max_client_conn = 500
"""


@contextmanager
def bouncer(url: str) -> Iterator[str]:
    """The URL of the same database by way of PgBouncer."""
    server = conninfo_to_dict(url)
    with socket.socket() as free:
        free.bind((HOST, 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="ferryman-bouncer-") as place:
        folder, user = Path(place), runs_as()
        (folder / "bouncer.ini").write_text(
            _SETTINGS.format(
                host=server["host"],
                server=server["port"],
                user=server["user"],
                address=HOST,
                port=port,
            )
        )
        if user:
            os.chown(folder, user["user"], user["group"])
        with (folder / "log").open("wb") as log:
            running = subprocess.Popen(
                [PROGRAM, folder / "bouncer.ini"],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                **user,
            )
        try:
            wait_until(lambda: serves(f"{HOST}:{port}"), what="PgBouncer")
            yield f"postgresql://{server['user']}@{HOST}:{port}/{server['dbname']}"
        finally:
            running.kill()
            running.wait()
