from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

import pytest

from ferryman.ids import new_id
from ferryman.queue.open import open_backend
from tests.servers.sqs import sqs_url

if TYPE_CHECKING:
    from pathlib import Path

    import psycopg

    from tests.cli.conftest import Run
    from tests.servers.shared import Server


def test_a_store_is_made_and_found_up_to_date(run: Run, home: Path) -> None:
    for _ in range(2):
        shown = run("migrate", "--url", "sqlite:///new.db").stdout
        assert shown == "sqlite:///new.db is up to date\n"
    shown = run("migrate", "--url", "sqlite:///new.db", "--json").stdout
    assert json.loads(shown) == {
        "store": "sqlite:///new.db",
        "backend": "sqlite",
        "up_to_date": True,
    }


def test_the_sql_of_sqlite_makes_the_same_store(run: Run, home: Path) -> None:
    script = run("migrate", "--sql", "--url", "sqlite:///by-hand.db").stdout
    assert not (home / "by-hand.db").exists()
    connection = sqlite3.connect(home / "by-hand.db")
    connection.executescript(script)
    connection.close()
    open_backend(f"sqlite:///{home}/by-hand.db").close()


def test_the_sql_of_postgresql_makes_the_same_store(
    run: Run, home: Path, new_schema_url: str, postgres_admin: psycopg.Connection[tuple[object]]
) -> None:
    postgres_admin.execute(run("migrate", "--sql", "--url", new_schema_url).stdout)
    store = open_backend(new_schema_url)
    assert store.snapshot().queues == {}
    store.close()
    assert run("migrate", "--url", new_schema_url).stdout.endswith("is up to date\n")


def test_nothing_is_printed_for_a_version_that_is_current(run: Run, home: Path) -> None:
    assert "CREATE" not in run("migrate", "--sql", "--from", "99").stdout


@pytest.mark.parametrize("url", ["memory://", "file:///nowhere"])
def test_a_store_without_sql_says_so(run: Run, home: Path, url: str) -> None:
    assert "needs no SQL" in run("migrate", "--sql", "--url", url, code=4).stderr


def test_the_queues_of_sqs_are_made_on_request(
    run: Run, home: Path, ministack: Server, aws_settings: None
) -> None:
    url = sqs_url(ministack, new_id().replace("-", ""), f"sqlite:///{home}/ledger.db")
    shown = run("migrate", "--url", url.replace("create=1", "create=0"), "-q", "mail").stdout
    names = [line.partition("_")[2] for line in shown.splitlines()[:-1]]
    assert names == ["mail_high", "mail", "mail_low"]
    assert shown.endswith("is up to date\n")


def test_a_store_that_makes_queues_by_itself_says_so(run: Run, home: Path) -> None:
    refused = run("migrate", "--url", "sqlite:///new.db", "--queue", "mail", code=4)
    assert "makes a queue with its first job" in refused.stderr
