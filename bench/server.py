"""One of the servers that the tests start, for the length of a block."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def server_of(kind: str) -> Iterator[str]:
    """Its address; on the way out nothing of it is left."""
    from tests.servers.shared import Server

    from ferryman.testing.waiting import wait_until

    with tempfile.TemporaryDirectory(prefix="ferryman-server-") as place:
        folder = Path(place)
        try:
            with Server(kind, folder) as server:
                yield server.address
        finally:
            # Whoever keeps the server clears up when nobody uses it any more.
            wait_until(lambda: not (folder / "address").exists(), timeout=30, what="its end")
