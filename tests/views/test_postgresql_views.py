from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import dict_row

from ferryman import Fail, Ferry, InvalidView, Retry
from ferryman.testing import drain
from tests.views.tables import CRAWL_JOBS, PDF_DISCOVERY_QUEUE

if TYPE_CHECKING:
    from collections.abc import Iterator

GAZETTE = {"url": "u", "date": "2026-03-01", "year": 2026, "metadata": {"sufix": "S"}}


@pytest.fixture
def database(postgres: str) -> Iterator[psycopg.Connection[dict[str, Any]]]:
    with psycopg.connect(postgres, autocommit=True, row_factory=dict_row) as connection:
        yield connection
        for name in ("pdf_discovery_queue", "crawl_jobs", "mine"):
            connection.execute(f"DROP VIEW IF EXISTS {name}")


@pytest.fixture
def ferry(postgres_url: str, database: object) -> Iterator[Ferry]:
    with Ferry(postgres_url) as ferry:
        yield ferry


def test_a_queue_is_read_as_a_table_of_another_program(
    ferry: Ferry, database: psycopg.Connection[dict[str, Any]]
) -> None:
    @ferry.task(name="discover", queue="discovery", retry=Retry(1))
    def discover(edition: dict[str, Any]) -> None:
        raise Fail("the court is closed")

    ferry.view("pdf_discovery_queue", "discovery", PDF_DISCOVERY_QUEUE)
    discover.push(GAZETTE)
    ferry.push("other", queue="elsewhere")
    [row] = database.execute("SELECT * FROM pdf_discovery_queue WHERE status = 'pending'")
    assert type(row["id"]) is int
    assert (row["year"], row["attempts"], row["metadata"]) == (2026, 0, {"sufix": "S"})
    drain(ferry)
    [row] = database.execute("SELECT * FROM pdf_discovery_queue")
    assert (row["status"], row["attempts"]) == ("failed", 1)
    assert row["error_message"] == "the court is closed"
    assert row["updated_at"] >= row["last_attempt"] >= row["created_at"]


def test_a_row_that_is_inserted_is_a_job(
    ferry: Ferry, database: psycopg.Connection[dict[str, Any]]
) -> None:
    ran: list[dict[str, Any]] = []

    @ferry.task(name="discover", queue="discovery")
    def discover(edition: dict[str, Any]) -> None:
        ran.append(edition)

    ferry.view("pdf_discovery_queue", "discovery", PDF_DISCOVERY_QUEUE)
    row = database.execute(
        "INSERT INTO pdf_discovery_queue (url, date, year, priority) "
        "VALUES ('u', '2026-03-01', 2026, 10) RETURNING *"
    ).fetchone()
    assert row is not None
    assert (row["status"], row["priority"], type(row["id"])) == ("pending", 10, int)
    drain(ferry)
    assert ran == [{"url": "u", "date": "2026-03-01", "year": 2026}]


def test_a_row_may_bring_its_whole_payload_its_id_and_meta(
    ferry: Ferry, database: psycopg.Connection[dict[str, Any]]
) -> None:
    ferry.view("crawl_jobs", "crawl", CRAWL_JOBS, task="crawl")
    answer = database.execute(
        "INSERT INTO crawl_jobs (id, payload, max_retries, source_id) "
        """VALUES ('c-1', '{"url": "u"}', 3, 's-1') RETURNING id, created_at"""
    ).fetchone()
    assert answer is not None
    assert answer["id"] == "c-1"
    job = ferry.backend.get("c-1")
    assert job is not None
    assert (job.task, job.payload, job.max_attempts) == ("crawl", {"url": "u"}, 4)
    assert job.meta == {"source_id": "s-1"}
    assert abs(job.created_at - answer["created_at"].timestamp()) < 0.001


def test_an_insert_that_is_rolled_back_pushes_nothing(
    ferry: Ferry, database: psycopg.Connection[dict[str, Any]]
) -> None:
    ferry.view("crawl_jobs", "crawl", CRAWL_JOBS, task="crawl")
    with database.transaction(force_rollback=True):
        database.execute("INSERT INTO crawl_jobs (id, payload) VALUES ('c-1', '{}')")
    assert ferry.backend.get("c-1") is None


def test_a_new_row_is_pending(ferry: Ferry, database: psycopg.Connection[dict[str, Any]]) -> None:
    ferry.view("crawl_jobs", "crawl", CRAWL_JOBS, task="crawl")
    with pytest.raises(psycopg.errors.CheckViolation, match="a new job is pending"):
        database.execute("INSERT INTO crawl_jobs (payload, status) VALUES ('{}', 'completed')")


def test_a_value_that_does_not_fit_its_column_is_null(
    ferry: Ferry, database: psycopg.Connection[dict[str, Any]]
) -> None:
    ferry.view("pdf_discovery_queue", "discovery", PDF_DISCOVERY_QUEUE)
    ferry.push("discover", {"year": "MMXXVI"}, queue="discovery")
    [row] = database.execute("SELECT year FROM pdf_discovery_queue")
    assert row["year"] is None


def test_a_view_may_be_made_again_and_changed(
    ferry: Ferry, database: psycopg.Connection[dict[str, Any]]
) -> None:
    for columns in ({"id": "id"}, {"id": "id"}, {"task": "task"}):
        ferry.view("mine", "o'brien", columns)
    ferry.push("send", queue="o'brien")
    assert database.execute("SELECT * FROM mine").fetchall() == [{"task": "send"}]


def test_a_name_that_is_taken_is_refused(
    ferry: Ferry, database: psycopg.Connection[dict[str, Any]]
) -> None:
    database.execute("CREATE TABLE theirs (id integer)")
    with pytest.raises(InvalidView, match="something else"):
        ferry.view("theirs", "mail", {"id": "id"})
    database.execute("DROP TABLE theirs")
