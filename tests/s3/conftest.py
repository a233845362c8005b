"""Buckets on real servers, each test in a folder of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ferryman.backends.s3.bucket import Bucket
from ferryman.backends.s3.home import Home
from ferryman.backends.s3.location import Location
from ferryman.backends.s3.patience import Patience
from ferryman.backends.s3.strict import StrictBackend
from ferryman.ids import new_id
from ferryman.testing.clock import FakeClock
from tests.s3.nodes import node
from tests.s3.simulated import SimulatedCalls
from tests.servers.kinds import BUCKET
from tests.servers.line import Line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ferryman.backends.files.disk import LocalDisk
    from tests.servers.shared import Server

# A silent server costs a fraction of a second instead of eight.
IMPATIENT = Patience(connect=5.0, answer=0.4, tries=6, overall=15.0, pause=0.002, longest=0.02)
STEADY = Patience(connect=5.0, answer=10.0, tries=6, overall=30.0, pause=0.002, longest=0.02)


@pytest.fixture
def tmp_path(memory_folder: Path) -> Path:
    """Local trees are mirrors here, and need no disk."""
    return memory_folder


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


@pytest.fixture(params=["seaweedfs", "ministack", "simulated"])
def bucket(request: pytest.FixtureRequest, connect: Callable[..., Bucket]) -> Bucket:
    """A bucket on each server that holds conditions, and the one that is simulated."""
    if request.param == "simulated":
        return Bucket(BUCKET, calls=SimulatedCalls())
    return connect(request.getfixturevalue(request.param).address)


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


@pytest.fixture
def prefix() -> str:
    return new_id()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def home(prefix: str) -> Home:
    """The keys below the prefix."""
    return Home(Location(BUCKET, prefix))


@pytest.fixture
def raw(ministack: Server, connect: Callable[..., Bucket]) -> Bucket:
    """The bucket of the nodes, by hand."""
    return connect(ministack.address)


@pytest.fixture
def join(
    ministack: Server, aws_settings: None, tmp_path: Path, prefix: str, clock: FakeClock
) -> Iterator[Callable[..., StrictBackend]]:
    """Opens a strict node by its name: a folder of its own, the same bucket, one clock for all."""
    opened: list[StrictBackend] = []

    def join_as(name: str, address: str | None = None, **options: Any) -> StrictBackend:
        given = {"clock": clock, **options}
        opened.append(node(address or ministack.address, prefix, tmp_path / name, **given))
        return opened[-1]

    yield join_as
    for store in opened:
        store.close()


@pytest.fixture
def calls(clock: FakeClock) -> SimulatedCalls:
    """A bucket in memory, whose server has the injected clock."""
    return SimulatedCalls(clock)


@pytest.fixture
def open_node(
    tmp_path: Path, clock: FakeClock, calls: SimulatedCalls
) -> Callable[..., StrictBackend]:
    """Opens nodes by name, all on that bucket."""

    def opened(
        name: str, disk: LocalDisk | None = None, kind: type[Bucket] = Bucket
    ) -> StrictBackend:
        location = Location(BUCKET, "prefix", tmp_path / name)
        return StrictBackend(location, kind(BUCKET, calls=calls, clock=clock), clock, disk)

    return opened
