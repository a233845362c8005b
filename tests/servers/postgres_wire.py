"""A line between a client and PostgreSQL that knows their messages, and is cut at any of them."""

from __future__ import annotations

import contextlib
import itertools
import socket
import struct
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Self, get_args
from urllib.parse import urlsplit

from tests.servers.kinds import HOST

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType
    from typing import BinaryIO

Place = Literal["before", "within", "after"]
PLACES: Final[tuple[Place, ...]] = get_args(Place)
_BACKEND_KEY: Final = b"K"
_STARTUP: Final = b" "


@dataclass(frozen=True, slots=True)
class Cut:
    """Which message was hit: its type as one letter, who sent it, and the server's process."""

    place: Place
    letter: str
    sender: Literal["client", "server"]
    backend: int | None


class Trial:
    """While its block runs, the n-th message through the wire is hit, once; `cut` says which."""

    def __init__(self, wire: Wire, number: int, place: Place) -> None:
        self.name = f"{place}-{number}"
        self.number = number
        self.place: Place = place
        self.cut: Cut | None = None
        self.over = threading.Event()
        """Both ends of the connection that was cut have been told."""
        self._wire = wire

    def __enter__(self) -> Self:
        self._wire.arm(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._wire.arm(None)
        # A cut after the last word goes unnoticed: the next trial must not begin with that line.
        if self.cut is not None and not self.over.wait(10.0):
            raise AssertionError(f"{self.cut}: the connection was not cut within 10 s")


class Wire:
    """Passes on every connection to one server, message by message in both directions."""

    def __init__(self, url: str) -> None:
        server = urlsplit(url)
        self._upstream = (server.hostname or HOST, server.port or 5432)
        self._lock = threading.Lock()
        self._trial: Trial | None = None
        self._passed = 0
        self._links: set[_Link] = set()
        self._listening = socket.create_server((HOST, 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def every_cut(self, places: Sequence[Place] = ("before", "after")) -> Iterator[Trial]:
        """A trial for each message and place, until one of them goes through uncut."""
        for place in places:
            for number in itertools.count(1):
                trial = Trial(self, number, place)
                yield trial
                if trial.cut is None:
                    break

    def arm(self, trial: Trial | None) -> None:
        """Count messages from now on, for this trial."""
        with self._lock:
            self._trial, self._passed = trial, 0

    def url(self, url: str) -> str:
        """The same address by way of this wire, which reads no encrypted messages."""
        server = urlsplit(url)
        login = server.netloc.rpartition("@")[0]
        query = f"{server.query}&" if server.query else ""
        return server._replace(
            netloc=f"{login}@{HOST}:{self.port}",
            query=f"{query}sslmode=disable&gssencmode=disable",
        ).geturl()

    def close(self) -> None:
        # To close it would not end the accept that is under way.
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        with self._lock:
            links, self._links = self._links, set()
        for link in links:
            link.shut()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def hit(self, link: _Link, letter: bytes, *, by_client: bool) -> Trial | None:
        """The trial whose message this is, if it is one's."""
        with self._lock:
            trial = self._trial
            if trial is None or trial.cut is not None:
                return None
            self._passed += 1
            if self._passed != trial.number:
                return None
            sender: Literal["client", "server"] = "client" if by_client else "server"
            trial.cut = Cut(trial.place, letter.decode(), sender, link.backend)
            return trial

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                try:
                    far = socket.create_connection(self._upstream)
                except OSError:
                    near.close()
                    continue
                link = _Link(self, near, far)
                with self._lock:
                    self._links.add(link)
                link.start()


class _Link:
    """One connection: two ends, and what passes between them."""

    def __init__(self, wire: Wire, near: socket.socket, far: socket.socket) -> None:
        self._wire = wire
        self._ends = (near, far)
        for end in self._ends:
            # Many small messages: each must leave at once.
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.backend: int | None = None
        self._lock = threading.Lock()
        self._directions = len(self._ends)

    def start(self) -> None:
        for by_client in (True, False):
            threading.Thread(target=self._pass_on, args=(by_client,), daemon=True).start()

    def shut(self) -> None:
        for end in self._ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _pass_on(self, by_client: bool) -> None:
        source, target = self._ends if by_client else self._ends[::-1]
        trial = None
        with contextlib.suppress(OSError, EOFError), source.makefile("rb") as reader:
            # Only a client's first message has no letter.
            started = not by_client
            while True:
                letter = _exactly(reader, 1) if started else b""
                length = _exactly(reader, 4)
                body = _exactly(reader, struct.unpack("!I", length)[0] - 4)
                if letter == _BACKEND_KEY and not by_client:
                    [self.backend] = struct.unpack("!I", body[:4])
                trial = self._wire.hit(self, letter or _STARTUP, by_client=by_client)
                started = True
                message = letter + length + body
                if trial is None:
                    target.sendall(message)
                    continue
                if trial.place != "before":
                    whole = trial.place == "after"
                    target.sendall(message if whole else message[: len(message) // 2])
                break
        self.shut()
        if trial is not None:
            trial.over.set()
        self._leave()

    def _leave(self) -> None:
        """Close both ends after the last direction.

        The number of one that is closed while another thread shuts it may be a new connection's.
        """
        with self._lock:
            self._directions -= 1
            over = self._directions == 0
        if over:
            for end in self._ends:
                end.close()


def _exactly(reader: BinaryIO, count: int) -> bytes:
    data = reader.read(count)
    if len(data) < count:
        raise EOFError
    return data
