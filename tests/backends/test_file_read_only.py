"""A store on a file system that is mounted for reading can be looked at and copied from."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import closing
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from ferryman.backends.files import FileBackend
from ferryman.backends.files.disk import LocalDisk
from ferryman.backends.files.location import Location
from ferryman.clock import SystemClock
from ferryman.errors import BackendError
from ferryman.filter import Filter
from ferryman.job import State
from ferryman.message import Message
from ferryman.queue.open import open_backend
from ferryman.service.move import copy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

WRITES = (
    "create",
    "append",
    "drop",
    "link",
    "rename",
    "move_folder",
    "unlink",
    "remove_folder",
    "set_hinted",
    "time",
)


def refuse(path: object, *_: Any, **__: Any) -> NoReturn:
    raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))


class ReadOnlyDisk(LocalDisk):
    """The real disk as the kernel shows it when it is mounted for reading."""

    def __init__(self) -> None:
        super().__init__()
        for name in WRITES:
            setattr(self, name, refuse)

    def make_folder(self, path: str) -> bool:
        return False if self.exists(path) else refuse(path)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "queues"
    with closing(open_backend(f"file://{root}")) as store:
        store.push([Message.of("mail", "send", number, id=f"job-{number}") for number in range(3)])
        store.cancel(["job-2"])
    return root


@pytest.fixture
def store(root: Path) -> Iterator[FileBackend]:
    with closing(opened(root)) as backend:
        yield backend


def opened(root: Path) -> FileBackend:
    return FileBackend(Location(str(root)), ReadOnlyDisk(), SystemClock())


def test_jobs_are_counted_listed_and_shown(store: FileBackend) -> None:
    states = store.snapshot().queues["mail"].states
    assert states == {State.PENDING: 2, State.CANCELLED: 1}
    assert len(store.list(Filter()).jobs) == 3
    job = store.get("job-1")
    assert job is not None
    assert job.payload == 1
    assert store.depth("mail", 10) == 2
    assert store.read_cells("") == []
    assert store.troubles() == []
    assert store.diagnose(deep=True)


def test_jobs_are_copied_into_another_store(store: FileBackend, tmp_path: Path) -> None:
    with closing(open_backend(f"sqlite:///{tmp_path}/jobs.db")) as target:
        assert copy(store, target, Filter()).carried == 3


def test_folders_that_an_archive_has_dropped_are_not_needed_for_that(root: Path) -> None:
    for folder in (".tmp", ".leases", ".cells", "mail/quarantine", "mail/failed"):
        shutil.rmtree(root / folder)
    with closing(opened(root)) as store:
        assert len(store.list(Filter()).jobs) == 3
        assert store.snapshot().queues["mail"].states[State.PENDING] == 2


@pytest.mark.parametrize(
    "write",
    [
        lambda store: store.push([Message.of("mail", "send")]),
        lambda store: store.poll("w1", {"mail": 1}, lease=60),
        lambda store: store.cancel(["job-1"]),
    ],
)
def test_whatever_writes_says_why_it_cannot(
    store: FileBackend, write: Callable[[FileBackend], object]
) -> None:
    with pytest.raises(BackendError, match=r"[Rr]ead-only file system"):
        write(store)
