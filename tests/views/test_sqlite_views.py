from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from ferryman import Fail, Ferry, InvalidView, Retry, State, Unsupported
from ferryman.testing import drain
from tests.views.tables import CRAWL_JOBS, PDF_DISCOVERY_QUEUE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GAZETTE = {
    "url": "https://example.org/249.pdf",
    "date": "2026-03-01",
    "number": "249S",
    "year": 2026,
    "metadata": {"sufix": "S"},
}


@pytest.fixture
def ferry(tmp_path: Path) -> Iterator[Ferry]:
    with Ferry(f"sqlite:///{tmp_path}/jobs.db") as ferry:
        yield ferry


def rows(ferry: Ferry, statement: str) -> list[dict[str, Any]]:
    with sqlite3.connect(ferry.url.removeprefix("sqlite:///")) as connection:
        connection.row_factory = sqlite3.Row
        found = [dict(row) for row in connection.execute(statement)]
    connection.close()
    return found


def test_a_queue_is_read_as_a_table_of_another_program(ferry: Ferry) -> None:
    @ferry.task(name="discover", queue="discovery", retry=Retry(1))
    def discover(edition: dict[str, Any]) -> None:
        raise Fail("the court is closed")

    ferry.view("pdf_discovery_queue", "discovery", PDF_DISCOVERY_QUEUE)
    discover.push(GAZETTE)
    ferry.push("other", queue="elsewhere")
    [row] = rows(ferry, "SELECT * FROM pdf_discovery_queue WHERE status = 'pending'")
    assert type(row["id"]) is int
    assert (row["number"], row["year"], row["attempts"]) == ("249S", 2026, 0)
    assert json.loads(row["metadata"]) == {"sufix": "S"}
    drain(ferry)
    [row] = rows(ferry, "SELECT * FROM pdf_discovery_queue")
    assert (row["status"], row["attempts"]) == ("failed", 1)
    assert row["error_message"] == "the court is closed"
    assert row["updated_at"] >= row["last_attempt"] >= row["created_at"]
    assert row["created_at"].endswith("Z")


def test_states_have_the_names_of_the_other_program(ferry: Ferry) -> None:
    ferry.view("pdf_discovery_queue", "discovery", PDF_DISCOVERY_QUEUE)
    handle = ferry.push("discover", GAZETTE, queue="discovery")
    ferry.backend.pause([handle.id])
    assert rows(ferry, "SELECT status FROM pdf_discovery_queue") == [{"status": "pending"}]
    ferry.backend.cancel([handle.id])
    assert handle.job().state is State.CANCELLED
    assert rows(ferry, "SELECT status FROM pdf_discovery_queue") == [{"status": "failed"}]


def test_meta_and_progress_are_columns(ferry: Ferry) -> None:
    ferry.view("crawl_jobs", "crawl", CRAWL_JOBS)
    ferry.push("crawl", {"url": "u"}, queue="crawl", meta={"source_id": "s-1"}, retry=Retry(4))
    [row] = rows(ferry, "SELECT * FROM crawl_jobs")
    assert json.loads(row["payload"]) == {"url": "u"}
    assert (row["source_id"], row["user_id"]) == ("s-1", None)
    assert (row["progress_percentage"], row["retry_count"], row["max_retries"]) == (0, 0, 3)


def test_a_view_may_be_made_again_and_changed(ferry: Ferry) -> None:
    for columns in ({"id": "id"}, {"id": "id"}, {"nr": "seq"}):
        ferry.view("mine", "mail", columns)
    ferry.push("send", queue="mail")
    assert rows(ferry, "SELECT * FROM mine") == [{"nr": 1}]


@pytest.mark.parametrize("name", ["jobs", "Counts", "theirs"])
def test_a_name_that_is_taken_is_refused(ferry: Ferry, name: str) -> None:
    ferry.push("send", queue="mail")
    rows(ferry, "CREATE TABLE theirs (id)")
    with pytest.raises(InvalidView, match="something else"):
        ferry.view(name, "mail", {"id": "id"})


@pytest.mark.parametrize(
    ("name", "columns", "says"),
    [
        ("no good", {"id": "id"}, "letters, digits"),
        ("good", {}, "no columns"),
        ("good", {"a b": "id"}, "letters, digits"),
        ("good", {"a": "nonsense"}, "nonsense"),
        ("good", {"a": "state.x"}, "state.x"),
        ("good", {"a": "payload..x"}, "payload"),
        ("good", {"a": "payload.x'y"}, "payload"),
        ("good", {"a": "payload.x:money"}, "money"),
        ("good", {"a": {"running": "x"}}, "running"),
    ],
)
def test_a_view_that_cannot_be_is_refused(
    ferry: Ferry, name: str, columns: dict[str, Any], says: str
) -> None:
    with pytest.raises(InvalidView, match=says):
        ferry.view(name, "mail", columns)


def test_a_store_without_a_database_has_no_views() -> None:
    with Ferry("memory://") as ferry, pytest.raises(Unsupported, match="no database"):
        ferry.view("mine", "mail", {"id": "id"})


def test_a_queues_name_is_only_ever_text(ferry: Ferry) -> None:
    ferry.view("mine", "o'brien", {"id": "id"})
    ferry.push("send", queue="mail")
    assert rows(ferry, "SELECT * FROM mine") == []
