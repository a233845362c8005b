"""Fixtures for tests that need a server; each is started by the first test that asks for it."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from tests.servers.shared import Server

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

_used: dict[str, Server] = {}


@pytest.fixture(scope="session")
def servers_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for the whole session, also when it is spread over processes."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "servers"


@pytest.fixture(scope="session")
def seaweedfs(servers_folder: Path) -> Iterator[Server]:
    """A real S3 store that holds every condition."""
    yield from _served("seaweedfs", servers_folder)


@pytest.fixture(scope="session")
def ministack(servers_folder: Path) -> Iterator[Server]:
    """A quick stand-in for S3 and SQS that holds every condition."""
    yield from _served("ministack", servers_folder)


@pytest.fixture(scope="session")
def fauxqs(servers_folder: Path) -> Iterator[Server]:
    """Another stand-in for SQS, by other people in another language."""
    yield from _served("fauxqs", servers_folder)


@pytest.fixture(scope="session")
def rclone(servers_folder: Path) -> Iterator[Server]:
    """An S3 gateway that accepts every condition and heeds none."""
    yield from _served("rclone", servers_folder)


@pytest.fixture
def memory_folder() -> Iterator[Path]:
    """A folder in memory, where there is one: local mirrors are many small files for a moment."""
    memory = Path("/dev/shm")  # noqa: S108
    with TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


@pytest.fixture
def aws_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials that every test server takes, and nothing of this machine's own settings."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test-key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test-secret-of-no-worth")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        for name in set(getattr(item, "fixturenames", ())) & _used.keys():
            report.sections.append((f"end of the log of {name}", _used[name].log))
    return report


def _served(name: str, folder: Path) -> Iterator[Server]:
    with Server(name, folder / name) as server:
        _used[name] = server
        yield server
