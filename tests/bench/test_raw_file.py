"""The raw loop on files is a fair measure: it makes the calls that ours makes."""

from __future__ import annotations

import fcntl
import os
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from bench.contender import payload
from bench.ours import OursOnFiles
from bench.raw_file import RawFile
from bench.syncs import folder_syncs

from bench import raw_file
from ferryman.backends.files import disk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import ModuleType

CHANGES = (
    "mkdir",
    "write",
    "fsync",
    "syncfs",
    "rename",
    "link",
    "unlink",
    "rmdir",
    "fchmod",
    "flock",
    "read",
)
LOOKS = ("open", "close", "stat", "fstat")
AT_TIMES = 8
"""Looks that belong to no job: what the time is, whether there are new logs or queues."""


class Book:
    """A module whose functions are counted when they are called."""

    def __init__(self, module: ModuleType, counts: Counter[str]) -> None:
        self._module = module
        self._counts = counts

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        return counted(name, found, self._counts) if callable(found) else found


def counted(name: str, call: Callable[..., Any], counts: Counter[str]) -> Callable[..., Any]:
    def act(*args: Any, **options: Any) -> Any:
        counts[name] += 1
        return call(*args, **options)

    return act


@contextmanager
def calls_of(module: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    counts: Counter[str] = Counter()
    with monkeypatch.context() as patch:
        patch.setattr(module, "os", Book(os, counts))
        patch.setattr(module, "fcntl", Book(fcntl, counts))
        patch.setattr(module, "_SYNCFS", counted("syncfs", module._SYNCFS, counts))
        yield counts


@pytest.fixture
def raw(tmp_path: Path) -> Iterator[RawFile]:
    (tmp_path / "raw").mkdir()
    opened = RawFile(tmp_path / "raw", lambda _: None)
    opened.push(payload(0))
    opened.finish([name for name, _ in opened.claim(1)])
    yield opened
    opened.close()


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[OursOnFiles]:
    (tmp_path / "ours").mkdir()
    opened = OursOnFiles(tmp_path / "ours", lambda _: None)
    opened.push(payload(0))
    opened.finish(1)
    yield opened
    opened.close()


@pytest.mark.parametrize("jobs", [1, 20, 100])
def test_the_raw_loop_makes_the_calls_of_ours_and_not_one_more(
    jobs: int, raw: RawFile, ours: OursOnFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    payloads = [payload(number) for number in range(jobs)]
    verbs: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "push": (lambda: raw.push_many(payloads), lambda: ours.push_many(payloads)),
        "claim": (lambda: claimed.extend(raw.claim(jobs)), lambda: ours.claim(jobs)),
        "settle": (lambda: raw.finish([name for name, _ in claimed]), ours.settle),
    }
    claimed: list[tuple[str, float]] = []
    for verb, (by_raw, by_ours) in verbs.items():
        with calls_of(raw_file, monkeypatch) as of_raw:
            by_raw()
        with calls_of(disk, monkeypatch) as of_ours:
            by_ours()
        for call in CHANGES:
            assert of_raw[call] == of_ours[call], (verb, call)
        for call in LOOKS:
            assert of_raw[call] <= of_ours[call] <= of_raw[call] + AT_TIMES, (verb, call)


def test_the_times_of_pushes_come_through_the_raw_loop(raw: RawFile) -> None:
    raw.push(payload(1, 1_794_700_800.25))
    [(_, at)] = raw.claim(1)
    assert at == 1_794_700_800.25


def test_folders_are_synced_once_for_many_jobs(tmp_path: Path) -> None:
    assert 0 < folder_syncs(tmp_path, 1_000) <= 0.05
    assert folder_syncs(tmp_path, 1) >= 1
