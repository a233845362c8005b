"""What the processes of a machine know together about the server's clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.files.disk import LocalDisk
from ferryman.backends.files.location import Location
from ferryman.backends.files.store import Store
from ferryman.backends.s3.clock import ServerClock
from ferryman.backends.s3.shared_clock import SharedClock
from ferryman.testing.clock import FakeClock

if TYPE_CHECKING:
    from pathlib import Path


def store_in(folder: Path) -> Store:
    disk = LocalDisk(durable=False)
    Location(str(folder), durable=False).prepare(disk)
    return Store(str(folder), disk, FakeClock())


def heard(local: FakeClock, *dates: str) -> ServerClock:
    clock = ServerClock(local)
    for date in dates:
        clock.hear(date, local.monotonic(), local.monotonic())
        local.advance(0.9)
    return clock


def test_a_process_takes_over_what_another_has_heard(tmp_path: Path) -> None:
    local, store = FakeClock(), store_in(tmp_path)
    many = heard(
        local,
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:38 GMT",
    )
    few = heard(local, "Sun, 06 Nov 1994 08:49:39 GMT")
    assert few.now() < many.now()
    SharedClock(store, many).give()
    SharedClock(store, few).take()
    assert abs(few.now() - many.now()) < 0.01


def test_what_was_heard_before_another_boot_is_not_believed(tmp_path: Path) -> None:
    local, store = FakeClock(), store_in(tmp_path)
    SharedClock(store, heard(local, "Sun, 06 Nov 1994 08:49:37 GMT")).give()
    store.this_boot = "another"
    fresh = ServerClock(local)
    SharedClock(store, fresh).take()
    assert not fresh.heard


def test_bounds_that_contradict_what_was_heard_here_are_not_taken_over(tmp_path: Path) -> None:
    local = FakeClock()
    here = heard(local, "Sun, 06 Nov 1994 08:49:37 GMT")
    before = here.now()
    here.learn(1e6, 1e6 + 1, local.monotonic())
    assert here.now() == before
