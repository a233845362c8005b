"""Buckets on real servers, each test in a folder of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.backends.s3.bucket import Bucket
from ferryman.backends.s3.patience import Patience
from ferryman.ids import new_id
from tests.servers.kinds import BUCKET
from tests.servers.line import Line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.servers.shared import Server

# A silent server costs a fraction of a second instead of eight.
IMPATIENT = Patience(connect=5.0, answer=0.4, tries=6, overall=15.0, pause=0.002, longest=0.02)
STEADY = Patience(connect=5.0, answer=10.0, tries=6, overall=30.0, pause=0.002, longest=0.02)


@pytest.fixture
def connect(aws_settings: None) -> Iterator[Callable[..., Bucket]]:
    """Opens a bucket at an address; closed at the end of the test."""
    opened: list[Bucket] = []

    def open_bucket(address: str, patience: Patience | None = None, name: str = BUCKET) -> Bucket:
        opened.append(Bucket(name, endpoint=address, patience=patience))
        return opened[-1]

    yield open_bucket
    for bucket in opened:
        bucket.close()


@pytest.fixture(params=["seaweedfs", "ministack"])
def server(request: pytest.FixtureRequest) -> Server:
    """Each server that holds conditions."""
    found: Server = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def bucket(server: Server, connect: Callable[..., Bucket]) -> Bucket:
    return connect(server.address)


@pytest.fixture
def line(ministack: Server) -> Iterator[Line]:
    with Line(ministack.address) as line:
        yield line


@pytest.fixture
def faulty(line: Line, connect: Callable[..., Bucket]) -> Bucket:
    """A bucket at the far end of a line that fails on command."""
    return connect(line.address, IMPATIENT)


@pytest.fixture
def steady(line: Line, connect: Callable[..., Bucket]) -> Bucket:
    """The same, for faults that answer: it does not take a slow machine for a silent server."""
    return connect(line.address, STEADY)


@pytest.fixture
def other(ministack: Server, connect: Callable[..., Bucket]) -> Bucket:
    """The same bucket by a direct way: what is really stored, and what rivals write."""
    return connect(ministack.address)


@pytest.fixture
def folder() -> str:
    return f"{new_id()}/"


@pytest.fixture
def key(folder: str) -> str:
    return f"{folder}lease.json"
