"""One thread at a time in long runs of quick calls."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from ferryman.backends.files.backend import FileBackend
from ferryman.backends.files.baton import Baton
from ferryman.backends.files.disk import LocalDisk
from ferryman.backends.files.location import Location
from ferryman.clock import SystemClock
from ferryman.testing.conformance.given import a_message, ack, claims, fail, nack, several

if TYPE_CHECKING:
    from pathlib import Path


def _takes_it(baton: Baton) -> bool:
    """Whether another thread gets it without waiting in vain."""
    got: list[bool] = []

    def other() -> None:
        with baton:
            got.append(baton.held)

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    return got[0]


def test_a_baton_is_one_threads_and_is_given_back() -> None:
    baton = Baton()
    with baton:
        assert not _takes_it(baton)
    assert _takes_it(baton)


def test_nobody_waits_for_ever_and_after_one_waited_in_vain_there_is_another() -> None:
    baton = Baton(0.001)
    with baton:
        assert not _takes_it(baton)
        assert _takes_it(baton)
        assert baton.held
    assert _takes_it(baton)


def test_others_have_the_baton_while_the_disk_is_waited_for() -> None:
    baton = Baton()
    with baton:
        with baton.let_go():
            assert _takes_it(baton)
        assert not _takes_it(baton)
    assert _takes_it(baton)


class Watchful(LocalDisk):
    """Tells of every sync whether the thread that waited for it had the baton."""

    def __init__(self) -> None:
        super().__init__()
        self.baton: Baton | None = None
        self.held: list[bool] = []

    def create(self, path: str, content: bytes, *, sync: bool, at: int | None = None) -> None:
        self._note(sync)
        super().create(path, content, sync=sync, at=at)

    def sync_folder(self, path: str, at: int | None = None) -> None:
        self._note()
        super().sync_folder(path, at)

    def sync_all(self, path: str) -> None:
        self._note()
        super().sync_all(path)

    def _note(self, waits: bool = True) -> None:
        if waits and self.baton is not None:
            self.held.append(self.baton.held)


def test_nobody_waits_for_the_disk_with_the_baton(tmp_path: Path) -> None:
    disk = Watchful()
    backend = FileBackend(Location.parse(f"file://{tmp_path}"), disk, SystemClock())
    disk.baton = backend._store.baton
    several(backend, 80)
    jobs = claims(backend, 80)
    child = a_message("other")
    ends = [
        (ack, nack, fail, lambda job: ack(job, children=[child]))[place % 4](job)
        for place, job in enumerate(jobs)
    ]
    assert all(receipt.applied for receipt in backend.settle(ends))
    # Said again, it is answered from what is durable.
    assert all(receipt.applied for receipt in backend.settle(ends))
    assert len(disk.held) > 20
    assert not any(disk.held)
    backend.close()


def test_who_has_no_baton_does_not_get_one_by_letting_go() -> None:
    baton = Baton()
    with baton.let_go():
        assert _takes_it(baton)
    assert _takes_it(baton)


def test_a_fork_while_another_thread_has_the_baton_leaves_the_child_a_free_one() -> None:
    baton, taken, done = Baton(), threading.Event(), threading.Event()

    def other() -> None:
        with baton:
            taken.set()
            done.wait()

    thread = threading.Thread(target=other)
    thread.start()
    taken.wait()
    child = os.fork()
    if not child:
        code = 1
        try:
            with baton:
                code = 2  # this one waited in vain, and made another
            with baton:
                code = 0 if baton.held else 3
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    done.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0
