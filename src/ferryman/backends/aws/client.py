"""The driver's client of one service, made again in a forked child."""

from __future__ import annotations

import os
from typing import Any, Final

import botocore
from botocore.config import Config
from botocore.loaders import create_loader
from botocore.session import Session

CONNECTIONS: Final = 32

# Reading the descriptions of the services takes a sixth of a second: once is enough.
_descriptions: Final = create_loader()


class Client:
    """Hands out the client, made on first use and again in a forked child.

    A child must not write into the sockets that it shares with its parent.
    """

    def __init__(
        self,
        service: str,
        *,
        endpoint: str | None,
        region: str | None,
        connect: float,
        answer: float,
        tries: int,
        **settings: Any,
    ) -> None:
        """`connect` and `answer` are seconds to wait; a request is sent at most `tries` times."""
        self._service = service
        self._endpoint = endpoint
        self._region = region
        self._config = Config(
            connect_timeout=connect,
            read_timeout=answer,
            retries={"mode": "standard", "total_max_attempts": tries},
            tcp_keepalive=True,
            max_pool_connections=CONNECTIONS,
            # Its own text would be put together anew for each request, an eighth of its cost.
            user_agent=f"ferryman botocore/{botocore.__version__}",
            **settings,
        )
        self._made: tuple[int, Any] | None = None

    def get(self) -> Any:
        """No lock, which a fork might catch held: two that come first make two, and one stays."""
        made = self._made
        if made is None or made[0] != os.getpid():
            made = self._made = (os.getpid(), self._make())
        return made[1]

    def close(self) -> None:
        made, self._made = self._made, None
        if made is not None and made[0] == os.getpid():
            made[1].close()

    def _make(self) -> Any:
        session = Session()
        session.register_component("data_loader", _descriptions)
        return session.create_client(
            self._service,
            region_name=self._region,
            endpoint_url=self._endpoint,
            config=self._config,
        )
