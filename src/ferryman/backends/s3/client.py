"""The driver's client of one bucket, set so that no write is repeated behind our back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, cast

from botocore.config import Config
from botocore.loaders import create_loader
from botocore.session import Session

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

    from ferryman.backends.s3.patience import Patience

CONNECTIONS: Final = 32

# Reading the descriptions of the services takes a sixth of a second: once is enough.
_descriptions: Final = create_loader()


class Client:
    """Hands out the client, made on first use and again in a forked child.

    A child must not write into the sockets that it shares with its parent.
    """

    def __init__(self, patience: Patience, *, endpoint: str | None, region: str | None) -> None:
        self._patience = patience
        self._endpoint = endpoint
        self._region = region
        self._made: tuple[int, S3Client] | None = None

    def get(self) -> S3Client:
        """No lock, which a fork might catch held: two that come first make two, and one stays."""
        made = self._made
        if made is None or made[0] != os.getpid():
            made = self._made = (os.getpid(), self._make())
        return made[1]

    def close(self) -> None:
        made, self._made = self._made, None
        if made is not None and made[0] == os.getpid():
            made[1].close()

    def _make(self) -> S3Client:
        settings: dict[str, Any] = {}
        if self._endpoint is not None:
            # Names such as http://minio:9000 have no sub-domain for each bucket.
            settings["s3"] = {"addressing_style": "path"}
        session = Session()
        session.register_component("data_loader", _descriptions)
        config = Config(
            connect_timeout=self._patience.connect,
            read_timeout=self._patience.answer,
            # A conditional write that is repeated after a lost answer is refused because of
            # itself: only `Bucket`, which reads back, may repeat.
            retries={"mode": "standard", "total_max_attempts": 1},
            tcp_keepalive=True,
            max_pool_connections=CONNECTIONS,
            # Stores that are not AWS refuse checksums that nobody asked for.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
            user_agent_extra="ferryman",
            **settings,
        )
        client = session.create_client(
            "s3", region_name=self._region, endpoint_url=self._endpoint, config=config
        )
        client.meta.events.register_last("before-call.s3", _send_at_once)
        return cast("S3Client", client)


def _send_at_once(params: dict[str, Any], **_: object) -> None:
    # Asking leave before each body (100-continue) is a round trip more, and our bodies are small.
    params["headers"].pop("Expect", None)
