from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

import psycopg
import pytest

from ferryman.backends.postgresql import connection, statements
from ferryman.backends.postgresql.location import Location
from ferryman.backends.postgresql.statements import VERSIONS, versions
from ferryman.ids import new_id
from ferryman.queue.open import open_backend
from tests.servers.sqs import sqs_url

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
    by_hand = sqlite3.connect(home / "by-hand.db")
    by_hand.executescript(script)
    by_hand.close()
    open_backend(f"sqlite:///{home}/by-hand.db").close()


def test_the_sql_of_postgresql_makes_the_same_store(
    run: Run, home: Path, new_schema_url: str, postgres_admin: psycopg.Connection[tuple[object]]
) -> None:
    postgres_admin.execute(run("migrate", "--sql", "--url", new_schema_url).stdout)
    store = open_backend(new_schema_url)
    assert store.snapshot().queues == {}
    store.close()
    assert run("migrate", "--url", new_schema_url).stdout.endswith("is up to date\n")


@pytest.fixture
def old_store(
    new_schema_url: str,
    postgres_admin: psycopg.Connection[tuple[object, ...]],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[tuple[str, str]]:
    """A store of an older version, by the URL of its owner and that of a user who may use it."""
    location = Location.parse(new_schema_url)
    owner, guest = f"owner_{location.schema}", f"guest_{location.schema}"
    older = versions(location)
    to_come = "ALTER TABLE jobs ADD COLUMN colour text;"
    for module in (statements, connection):
        monkeypatch.setattr(module, "VERSIONS", (*VERSIONS, to_come))
    for statement in (
        f"CREATE ROLE {owner} LOGIN",
        f"CREATE ROLE {guest} LOGIN",
        f"CREATE SCHEMA {location.schema} AUTHORIZATION {owner}",
        f"GRANT ALL ON SCHEMA {location.schema} TO {guest}",
        f"SET ROLE {owner}; SET search_path = {location.schema}",
        "CREATE TABLE about (version integer NOT NULL, store text NOT NULL)",
        f"INSERT INTO about VALUES ({len(older)}, 'a')",  # noqa: S608
        *older,
        f"GRANT ALL ON ALL TABLES IN SCHEMA {location.schema} TO {guest}",
        "RESET ROLE; RESET search_path",
    ):
        postgres_admin.execute(statement)
    as_owner, as_guest = (
        new_schema_url.replace("postgres@", f"{who}@", 1) for who in (owner, guest)
    )
    yield as_owner, as_guest
    postgres_admin.execute(f"DROP OWNED BY {owner}, {guest} CASCADE")
    postgres_admin.execute(f"DROP ROLE {owner}, {guest}")


def test_a_user_who_does_not_own_the_tables_is_told_whom_to_ask(
    run: Run, old_store: tuple[str, str]
) -> None:
    owner, guest = old_store
    present = len(versions(Location.parse(owner)))
    told = run("migrate", guest, code=5).stderr
    assert f"has version {present - 1}, this Ferryman needs {present}" in told
    assert "let owner_" in told
    assert f"`ferryman migrate --sql --from {present - 1}`" in told
    assert "grant it" not in told
    run("migrate", owner)
    assert run("migrate", guest).stdout.endswith("is up to date\n")


def test_the_sql_begins_with_the_version_that_the_store_has(
    run: Run, old_store: tuple[str, str]
) -> None:
    owner, guest = old_store
    present = len(versions(Location.parse(owner)))
    script = run("migrate", "--sql", guest).stdout
    assert script == run("migrate", "--sql", "--from", str(present - 1), guest).stdout
    assert "CREATE SCHEMA" not in script
    with psycopg.connect(owner.partition("?")[0], autocommit=True) as theirs:
        theirs.execute(script)
    assert run("migrate", guest).stdout.endswith("is up to date\n")
    assert f"version {present} is the present one" in run("migrate", "--sql", guest).stdout


def test_without_an_answer_the_sql_makes_a_new_store_and_that_is_said(run: Run) -> None:
    shown = run("migrate", "--sql", "postgresql://ana:geheim@127.0.0.1:1/jobs")
    assert "CREATE SCHEMA" in shown.stdout
    assert "--from VERSION" in shown.stderr
    assert "geheim" not in shown.output


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
