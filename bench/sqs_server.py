"""A server that speaks SQS for the length of a block: ministack from its wheel, on loopback."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bench.s3_server import environment, settings
from bench.server import server_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


@contextmanager
def ministack() -> Iterator[None]:
    """While the block lasts, the usual AWS settings of this process lead to it."""
    with server_of("ministack") as address, environment(settings(address)):
        yield


@contextmanager
def counted() -> Iterator[Mapping[str, int]]:
    """While the block lasts, requests take a way on which they are counted, by their names."""
    from tests.servers.line import Line
    from tests.servers.sqs_faults import Weather

    server = os.environ["AWS_ENDPOINT_URL"]
    with Line(server, seed=0) as line, environment(settings(line.address)):
        yield Weather(line).calls


def prefix_of(folder: Path) -> str:
    """A prefix of its own for the queues that belong to a folder."""
    return re.sub(r"[^A-Za-z0-9-]+", "-", f"b{folder.name}")
