"""A line between a client and a server, byte by byte, that can be cut, stalled and mended."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Self
from urllib.parse import urlsplit

from tests.servers.kinds import HOST


class Relay:
    """Passes on every connection to one port; `cut` ends them all and refuses new ones."""

    def __init__(self, url: str) -> None:
        server = urlsplit(url)
        self._upstream = (server.hostname or HOST, server.port or 5432)
        self._lock = threading.Lock()
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._flowing = threading.Event()
        self._flowing.set()
        self._listening = socket.create_server((HOST, 0))
        self.port = self._listening.getsockname()[1]
        self._accept(self._listening)

    @property
    def connected(self) -> bool:
        """Whether anybody is."""
        with self._lock:
            return bool(self._pairs)

    def cut(self) -> None:
        """Break every connection and take no more."""
        # To close it would not end the accept that is under way.
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.drop()

    def drop(self) -> None:
        """Break every connection; new ones are welcome."""
        with self._lock:
            pairs, self._pairs = self._pairs, set()
        for pair in pairs:
            for end in pair:
                _shut(end)

    def stall(self) -> None:
        """Pass nothing on, and say nothing: so a server looks that hangs."""
        self._flowing.clear()

    def forsake(self) -> None:
        """Pass nothing on any more for those who are connected, and say nothing; others may come.

        So a firewall does that has forgotten them.
        """
        self._flowing.clear()
        self._flowing = threading.Event()
        self._flowing.set()

    def flow(self) -> None:
        """Pass on what was held up, and all that comes."""
        self._flowing.set()

    def mend(self) -> None:
        """Take connections again, at the same port."""
        self._listening = socket.create_server((HOST, self.port))
        self._accept(self._listening)

    def close(self) -> None:
        self.flow()
        self.cut()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _accept(self, listening: socket.socket) -> None:
        threading.Thread(target=self._serve, args=(listening,), daemon=True).start()

    def _serve(self, listening: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = listening.accept()
                try:
                    far = socket.create_connection(self._upstream)
                except OSError:
                    near.close()
                    continue
                with self._lock:
                    self._pairs.add((near, far))
                for source, target in ((near, far), (far, near)):
                    threading.Thread(
                        target=self._pass_on, args=(source, target, self._flowing), daemon=True
                    ).start()

    def _pass_on(
        self, source: socket.socket, target: socket.socket, flowing: threading.Event
    ) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                flowing.wait()
                target.sendall(data)
        for end in (source, target):
            _shut(end)


def relayed(url: str, relay: Relay) -> str:
    """The same address by way of the relay."""
    server = urlsplit(url)
    login = server.netloc.rpartition("@")[0]
    return server._replace(netloc=f"{login}@{HOST}:{relay.port}").geturl()


def _shut(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
