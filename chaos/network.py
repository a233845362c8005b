"""Each node's own way to the server, which can be cut and healed while processes use it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_HOST: Final = "127.0.0.1"
_CHUNK: Final = 1 << 16
_LOOK: Final = 0.02


class Network:
    """Listens for every node before anyone is forked. A file for each node says how it is cut.

    `reset`: its connections break and new ones are refused. `silent`: nothing passes; what was
    sent before the way healed still arrives then, even if its sender has long given up.
    """

    def __init__(self, server: str, nodes: Sequence[str], folder: Path) -> None:
        parts = urlsplit(server)
        self._upstream = (parts.hostname or _HOST, parts.port or 80)
        self._folder = folder
        folder.mkdir()
        self._sockets = {node: _listener() for node in nodes}

    def address(self, node: str) -> str:
        return f"http://{_HOST}:{self._sockets[node].getsockname()[1]}"

    def cut(self, node: str, how: str) -> None:
        (self._folder / node).write_text(how)

    def heal(self, node: str) -> None:
        (self._folder / node).unlink(missing_ok=True)

    def state(self, node: str) -> str:
        """How a node is cut off; "" if it is not."""
        try:
            return (self._folder / node).read_text()
        except FileNotFoundError:
            return ""

    def serve(self) -> int:
        """The body of the process that carries; never returns."""
        asyncio.run(self._serve())
        return 1

    def close(self) -> None:
        for listening in self._sockets.values():
            listening.close()

    async def _serve(self) -> None:
        lines = {node: _Line(self._upstream) for node in self._sockets}
        for node, line in lines.items():
            await asyncio.start_server(line.carry, sock=self._sockets[node])
        while True:
            for node, line in lines.items():
                line.become(self.state(node))
            await asyncio.sleep(_LOOK)


class _Line:
    """The connections of one node."""

    def __init__(self, upstream: tuple[str, int]) -> None:
        self._upstream = upstream
        self._state = ""
        self._passable = asyncio.Event()
        self._passable.set()
        self._near: set[asyncio.StreamWriter] = set()

    def become(self, state: str) -> None:
        self._state = state
        if state == "reset":
            for writer in self._near:
                writer.transport.abort()
        if state == "silent":
            self._passable.clear()
        else:
            self._passable.set()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, until either side closes it."""
        if self._state == "reset":
            writer.transport.abort()
            return
        self._near.add(writer)
        try:
            far_reader, far_writer = await asyncio.open_connection(*self._upstream)
            await asyncio.gather(self._pump(reader, far_writer), self._pump(far_reader, writer))
        except OSError:
            pass  # it was cut, or one side is dead: that is what we are here for
        finally:
            self._near.discard(writer)
            writer.close()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(_CHUNK):
                await self._passable.wait()
                writer.write(data)
                await writer.drain()
        writer.close()


def _listener() -> socket.socket:
    listening = socket.socket()
    listening.bind((_HOST, 0))
    listening.listen(128)
    listening.setblocking(False)
    return listening
