"""Serves an application on one address until it is told to stop."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING, Final

import uvicorn
from anyio.to_thread import current_default_thread_limiter
from uvicorn.protocols.http.h11_impl import H11Protocol

from ferryman.worker.orders import Orders

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

    from fastapi import FastAPI

    from ferryman.web.site import Site

GRACE: Final = 10
"""Seconds that requests under way may take to end."""
# Requests that are answered at a time. Python runs one thread at once, and each that has waited for
# a row or a word of the store waits for its turn again, behind all others. A store behind a network
# keeps threads waiting, so more of them help.
_THREADS: Final = {"here": 4, "served": 16}


class Server:
    """Listens from the moment it is made; port 0 is any free one.

    `behind_proxy` believes what the other end says about the visitor's address and scheme.
    """

    def __init__(self, app: FastAPI, host: str, port: int, *, behind_proxy: bool = False) -> None:
        self._site: Site = app.state.site
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host, port), family=family)
        # Inherited by every connection. The event loop does this only for sockets that name their
        # protocol, and without it the body of each answer waits 40 ms for the other end's word
        # that it has got the head.
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.host = host
        self.port: int = self._socket.getsockname()[1]
        served = self._site.backend.capabilities.served
        self._uvicorn = _Uvicorn(
            uvicorn.Config(
                app,
                http=_Discreet,
                log_config=None,
                server_header=False,
                lifespan="off",
                proxy_headers=behind_proxy,
                forwarded_allow_ips="*" if behind_proxy else None,
                timeout_graceful_shutdown=GRACE,
            ),
            _THREADS["served" if served else "here"],
        )
        self._thread = threading.Thread(
            target=self._uvicorn.run,
            kwargs={"sockets": [self._socket]},
            name="ferryman-web",
            daemon=True,
        )

    @property
    def address(self) -> str:
        """Where it is found, as a URL without a path."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    def run(self) -> None:
        """Serve until SIGTERM or SIGINT; the first one lets requests end, the second does not."""
        orders = Orders()
        with orders.by_signals():
            self.start()
            while self._thread.is_alive() and orders.next(0.2) is None:
                pass
            self._begin_stop()
            while self._thread.is_alive():
                if orders.next(0.05) is not None:
                    self._uvicorn.force_exit = True
        self._socket.close()

    def start(self) -> None:
        """Serve in a thread of its own."""
        self._thread.start()

    def stop(self) -> None:
        """Let requests end, then return."""
        self._begin_stop()
        self._thread.join(GRACE + 5.0)
        self._socket.close()

    def _begin_stop(self) -> None:
        self._site.close()
        self._uvicorn.should_exit = True

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


class _Uvicorn(uvicorn.Server):
    """Answers with so many threads."""

    def __init__(self, config: uvicorn.Config, threads: int) -> None:
        super().__init__(config)
        self._threads = threads

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        # Belongs to the event loop, so it cannot be set before there is one.
        current_default_thread_limiter().total_tokens = self._threads
        await super().serve(sockets)


class _Discreet(H11Protocol):
    """Logs no requests: their addresses hold filters, and those may hold secrets.

    The server's own option changes the logger of the whole process, and leaves it to whoever has
    given that logger a handler.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.access_log = False
