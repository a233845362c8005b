"""A real S3 server for the length of a block: SeaweedFS from its PyPI wheel, on loopback."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@contextmanager
def seaweedfs() -> Iterator[None]:
    """While the block lasts, the usual AWS settings of this process lead to it."""
    from tests.servers.shared import Server

    from ferryman.testing.waiting import wait_until

    with tempfile.TemporaryDirectory(prefix="ferryman-s3-") as place:
        folder = Path(place)
        try:
            with Server("seaweedfs", folder) as server, _environment(_settings(server.address)):
                yield
        finally:
            # Whoever keeps the server clears up when nobody uses it any more.
            wait_until(lambda: not (folder / "address").exists(), timeout=30, what="its end")


@contextmanager
def _environment(settings: Mapping[str, str]) -> Iterator[None]:
    """Other AWS settings, and none of this machine's own."""
    before = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    for name in before:
        del os.environ[name]
    os.environ.update(settings)
    try:
        yield
    finally:
        for name in settings:
            del os.environ[name]
        os.environ.update(before)


def _settings(address: str) -> dict[str, str]:
    return {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "bench-key",
        "AWS_SECRET_ACCESS_KEY": "bench-secret-of-no-worth",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }
