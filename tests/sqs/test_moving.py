"""Jobs between SQS with a ledger and another store, by the service and by the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from ferryman.cli.main import app
from ferryman.job import State
from ferryman.queue.open import open_backend
from ferryman.service.move import move
from ferryman.testing.conformance.cargo import (
    ALL,
    assert_moved,
    assert_same_jobs,
    populate,
    whole,
)
from ferryman.testing.conformance.given import ack, claims, several
from tests.servers.sqs import sqs_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ferryman.queue.contract import Backend
    from tests.servers.shared import Server


@pytest.fixture
def store(join: Callable[..., Backend]) -> Backend:
    """It relies on messages for an hour."""
    return join(look=3_600)


@pytest.fixture
def other(memory_folder: Path) -> Iterator[Backend]:
    other = open_backend(f"sqlite:///{memory_folder}/other.db")
    yield other
    other.close()


def ran(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(words))
    return result.exit_code, result.output


def test_jobs_leave_sqs_whole_and_their_messages_name_nothing_any_more(
    store: Backend, other: Backend
) -> None:
    populate(store, rounds=3)
    before = whole(store)
    assert move(store, other, ALL).carried == len(before)
    assert_moved(before, store, other)
    assert claims(store) == []


def test_jobs_come_to_sqs_whole_and_are_announced(store: Backend, other: Backend) -> None:
    ids = several(other, 15)
    assert claims(store) == []
    before = whole(other)
    move(other, store, ALL)
    assert_moved(before, other, store)
    jobs = claims(store)
    assert sorted(job.id for job in jobs) == sorted(ids)
    assert {receipt.state for receipt in store.settle([ack(job) for job in jobs])} == {
        State.COMPLETED
    }


def test_jobs_travel_from_sqs_through_a_folder_and_back(
    ministack: Server, store: Backend, project: str, ledger: str, memory_folder: Path
) -> None:
    populate(store)
    before = whole(store)
    url = sqs_url(ministack, project, ledger)
    folder = str(memory_folder / "incident")
    assert ran("export", url, folder)[0] == 0
    target = sqs_url(ministack, project[::-1], f"sqlite:///{memory_folder}/second.db")
    assert ran("import", folder, target)[0] == 0
    copy = open_backend(target)
    assert_same_jobs(whole(copy), before)
    copy.close()


@pytest.mark.parametrize("words", [("move", "{sqs}", "{other}"), ("export", "{sqs}", "{folder}")])
def test_without_a_ledger_there_is_nothing_to_read_and_that_is_said(
    ministack: Server, aws_settings: None, project: str, memory_folder: Path, words: tuple[str, ...]
) -> None:
    names = {
        "sqs": sqs_url(ministack, project),
        "other": f"sqlite:///{memory_folder}/other.db",
        "folder": str(memory_folder / "incident"),
    }
    code, said = ran(*(word.format(**names) for word in words))
    assert code != 0
    assert "sqs without a ledger" in said
    assert "add ledger=" in said
