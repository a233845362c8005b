"""A real S3 server for the length of a block: SeaweedFS from its PyPI wheel, on loopback."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bench.server import server_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@contextmanager
def seaweedfs() -> Iterator[None]:
    """While the block lasts, the usual AWS settings of this process lead to it."""
    with server_of("seaweedfs") as address, environment(settings(address)):
        yield


@contextmanager
def environment(others: Mapping[str, str]) -> Iterator[None]:
    """Other AWS settings, and none of this machine's own."""
    before = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    for name in before:
        del os.environ[name]
    os.environ.update(others)
    try:
        yield
    finally:
        for name in others:
            del os.environ[name]
        os.environ.update(before)


def settings(address: str) -> dict[str, str]:
    """AWS settings that lead to a server on this machine."""
    return {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "bench-key",
        "AWS_SECRET_ACCESS_KEY": "bench-secret-of-no-worth",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }
