from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from chaos.journal import Journal, read, story
from chaos.records import Ended, Pushed, Record, Refused, Saved
from chaos.report import write_result

if TYPE_CHECKING:
    from pathlib import Path

RECORDS: list[Record] = [
    Pushed(3, "a", "t", 12.5),
    Ended("a", 2, 1, "pending", None, "b"),
    Refused("b", 1),
    Saved("a", 2, 4),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "worker-0.journal"


def test_what_was_written_is_read_back(path: Path) -> None:
    journal = Journal(path)
    for record in RECORDS:
        journal.write(record)
    assert list(journal.read()) == RECORDS


def test_a_torn_line_spoils_neither_its_neighbours_nor_the_next_life(path: Path) -> None:
    Journal(path).write(RECORDS[0])
    with path.open("a") as file:
        file.write('\n[1794775155.7, "Ended", "a", 2')
    Journal(path).write(RECORDS[2])
    assert list(read(path)) == [RECORDS[0], RECORDS[2]]


def test_a_story_is_about_one_job_and_says_who_wrote_it(path: Path) -> None:
    journal = Journal(path)
    for record in RECORDS:
        journal.write(record)
    lines = story([path], "a")
    assert ["Pushed" in lines[0], "Ended" in lines[1], "Saved" in lines[2]] == [True] * 3
    assert len(lines) == 3
    assert all(line.endswith("worker-0") for line in lines)


def test_a_result_replaces_the_last_one_of_its_backend(path: Path) -> None:
    for backend, kills in [("sqlite", 10), ("file", 20), ("sqlite", 30)]:
        write_result(path, {"backend": backend, "kills": kills})
    assert path.read_text() == (
        '[\n  {"backend": "file", "kills": 20},\n  {"backend": "sqlite", "kills": 30}\n]\n'
    )
