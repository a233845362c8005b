"""First use makes the schema; what is not ours or too new is left alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from ferryman.backends.postgresql import connect
from ferryman.backends.postgresql.location import Location
from ferryman.clock import SystemClock
from ferryman.errors import BackendRejected, BackendUnavailable
from ferryman.service.store import NoStoreYet, open_store
from ferryman.testing.conformance.given import a_message, pushed

if TYPE_CHECKING:
    Admin = psycopg.Connection[tuple[object, ...]]


def schema_of(url: str) -> str:
    return parse_qs(urlsplit(url).query)["schema"][0]


def test_first_use_makes_the_schema(new_schema_url: str) -> None:
    with closing(connect(new_schema_url, SystemClock())) as store:
        pushed(store, id="x")
    with closing(connect(new_schema_url, SystemClock())) as store:
        assert store.get("x") is not None


def test_whoever_only_looks_makes_no_schema(new_schema_url: str) -> None:
    for _ in range(2):
        with pytest.raises(NoStoreYet, match="no store at postgresql"):
            open_store(new_schema_url, create=False)
    open_store(new_schema_url, create=True).close()
    open_store(new_schema_url, create=False).close()


def test_many_who_come_first_make_it_once(new_schema_url: str) -> None:
    with ThreadPoolExecutor(6) as pool:
        stores = list(pool.map(lambda _: connect(new_schema_url, SystemClock()), range(6)))
    for store in stores:
        pushed(store)
    assert stores[0].snapshot().queues["mail"].total == 6
    for store in stores:
        store.close()


def test_two_schemas_of_one_database_are_two_stores(new_schema_url: str, postgres_url: str) -> None:
    with (
        closing(connect(new_schema_url, SystemClock())) as one,
        closing(connect(postgres_url, SystemClock())) as other,
    ):
        pushed(one, id="x")
        assert other.get("x") is None
        assert other.wait(["mail"], 0) is False


def test_a_newer_schema_is_refused_and_left_alone(
    new_schema_url: str, postgres_admin: Admin
) -> None:
    connect(new_schema_url, SystemClock()).close()
    newer = f"UPDATE {schema_of(new_schema_url)}.about SET version = 99"  # noqa: S608
    postgres_admin.execute(newer)
    with pytest.raises(BackendRejected, match="upgrade Ferryman here"):
        connect(new_schema_url, SystemClock())


def test_another_programs_tables_are_left_alone(new_schema_url: str, postgres_admin: Admin) -> None:
    schema = schema_of(new_schema_url)
    postgres_admin.execute(f"CREATE SCHEMA {schema}")
    postgres_admin.execute(f"CREATE TABLE {schema}.jobs (id integer)")
    with pytest.raises(BackendRejected, match=r"choose another with \?schema="):
        connect(new_schema_url, SystemClock())


def test_a_user_that_may_not_make_the_schema_learns_what_to_do(
    postgres: str, new_schema_url: str, postgres_admin: Admin
) -> None:
    schema = schema_of(new_schema_url)
    postgres_admin.execute(f"CREATE ROLE {schema} LOGIN")
    try:
        server = urlsplit(new_schema_url)
        place = server.netloc.rpartition("@")[2]
        url = server._replace(netloc=f"{schema}@{place}").geturl()
        with pytest.raises(BackendRejected, match=f"CREATE SCHEMA {schema} AUTHORIZATION"):
            connect(url, SystemClock())
        postgres_admin.execute(f"CREATE SCHEMA {schema} AUTHORIZATION {schema}")
        with closing(connect(url, SystemClock())) as store:
            pushed(store)
    finally:
        postgres_admin.execute(f"DROP OWNED BY {schema} CASCADE")
        postgres_admin.execute(f"DROP ROLE {schema}")


def test_a_schema_that_is_dropped_while_in_use_is_said_to_be(
    new_schema_url: str, postgres_admin: Admin
) -> None:
    with closing(connect(new_schema_url, SystemClock())) as store:
        postgres_admin.execute(f"DROP SCHEMA {schema_of(new_schema_url)} CASCADE")
        for verb in (store.snapshot, lambda: store.push([a_message()])):
            with pytest.raises(BackendRejected, match="any more"):
                verb()


def test_a_role_that_starts_other_transactions_is_refused(
    new_schema_url: str, postgres: str, postgres_admin: Admin
) -> None:
    database = urlsplit(postgres).path[1:]
    setting = f"ALTER DATABASE {database} SET default_transaction_isolation"
    postgres_admin.execute(f"{setting} = 'serializable'")
    try:
        with pytest.raises(BackendRejected, match="read committed"):
            connect(new_schema_url, SystemClock())
    finally:
        postgres_admin.execute(f"{setting} = 'read committed'")


# -- where it is


def test_our_options_are_taken_off_and_the_rest_goes_to_libpq() -> None:
    location = Location.parse("postgresql://ana@db/jobs?schema=q&timeout=5&sslmode=require")
    options = psycopg.conninfo.conninfo_to_dict(location.conninfo)
    assert (location.schema, location.timeout, options["sslmode"]) == ("q", 5.0, "require")
    assert (options["host"], options["dbname"], options["user"]) == ("db", "jobs", "ana")
    assert not {"schema", "timeout"} & options.keys()


def test_of_several_servers_the_one_that_writes_is_wanted() -> None:
    location = Location.parse("postgresql://one:5432,two:5432/jobs")
    options = psycopg.conninfo.conninfo_to_dict(location.conninfo)
    assert options["target_session_attrs"] == "read-write"


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("schema=Robert'); DROP", "lower-case"),
        ("schema=pg_catalog", "belongs to PostgreSQL"),
        ("timeout=soon", "timeout=soon"),
        ("connections=0", "connections=0"),
        ("listen=perhaps", "yes or no"),
        ("shcema=x", "shcema"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(query: str, says: str) -> None:
    with pytest.raises(BackendRejected, match=says):
        Location.parse(f"postgresql://ana:secret@db/jobs?{query}")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ana:s3cr3t@127.0.0.1:1/jobs",
        "postgresql://ana:s3cr3t@127.0.0.1:1/jobs?nonsense=1",
        "postgresql://ana@127.0.0.1:1/jobs?password=s3cr3t",
        "postgresql://ana:p@s3cr3t@127.0.0.1:1/jobs",
    ],
)
def test_a_password_is_in_no_message(url: str) -> None:
    with pytest.raises((BackendUnavailable, BackendRejected)) as refused:
        connect(url, SystemClock())
    chain: BaseException | None = refused.value
    assert "s3cr3t" not in str(chain)
