"""A server that speaks AWS's protocols, started for one campaign and reached by nobody else."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_ACCOUNT: Final = {
    "AWS_ACCESS_KEY_ID": "chaos",
    "AWS_SECRET_ACCESS_KEY": "of-no-worth",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
}
"""Nothing of this machine's own settings, so that nothing real is touched."""


@contextmanager
def rented(kind: str, folder: Path) -> Iterator[str]:
    """The address of a real server, which is gone when this ends."""
    # Here, because these come with the development packages only.
    from tests.servers.shared import Server

    from ferryman.testing.waiting import wait_until

    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    # Where the server writes its logs.
    os.environ["TMPDIR"] = str(folder)
    home = folder / "server"
    try:
        with Server(kind, home) as server:
            # Only now: the server would take such keys for its administrator's and ask for them.
            os.environ |= _ACCOUNT
            yield server.address
    finally:
        # It must not write any more when the folder goes.
        wait_until(lambda: not (home / "address").exists(), timeout=20, what="the server to end")
