"""What the store finds out about its server."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg
import pytest

from ferryman.backends.postgresql import diagnosis
from ferryman.backends.postgresql.diagnosis import Facts
from ferryman.backends.postgresql.location import Location
from ferryman.backends.postgresql.pooler import Mode
from ferryman.queue.diagnosis import Diagnosable, Finding, Severity
from ferryman.queue.open import open_backend

if TYPE_CHECKING:
    from collections.abc import Iterator

    Admin = psycopg.Connection[tuple[object, ...]]

OK, WARNING, PROBLEM = Severity
WELL = Facts(
    role="ana",
    version=1,
    may_write=True,
    read_only=False,
    time=0.0,
    safe=True,
    durable=True,
    autovacuum=True,
    connections=100,
    reserved=3,
    connected=7,
    hidden=0,
    oldest=1.0,
    dead=10,
)
HERE = Location("postgresql://db/jobs", "")


def findings(url: str) -> dict[str, Finding]:
    backend = open_backend(url)
    assert isinstance(backend, Diagnosable)
    found = {one.check: one for one in backend.diagnose()}
    backend.close()
    return found


def test_a_healthy_server_has_nothing_to_complain_about(postgres_url: str) -> None:
    found = findings(postgres_url)
    # Test servers trade durability for speed, and say so.
    assert {check for check, one in found.items() if one.severity is not OK} <= {"durability"}
    assert found["pooler"].what == "none, directly connected"
    assert found["listener"].what == "directly connected, announcements arrive at once"


@contextmanager
def a_role(admin: Admin, schema: str, granted: str) -> Iterator[str]:
    """A role that is nobody's but has these rights on the tables."""
    role = f"role_{schema}"
    for statement in (
        f"CREATE ROLE {role} LOGIN",
        f"GRANT USAGE ON SCHEMA {schema} TO {role}",
        f"GRANT {granted} ON ALL TABLES IN SCHEMA {schema} TO {role}",
    ):
        admin.execute(statement)
    try:
        yield role
    finally:
        admin.execute(f"DROP OWNED BY {role}")
        admin.execute(f"DROP ROLE {role}")


def test_a_user_who_may_only_read_is_told_what_to_grant(
    new_schema_url: str, postgres_admin: Admin
) -> None:
    open_backend(new_schema_url).close()
    schema = new_schema_url.rpartition("=")[2]
    with a_role(postgres_admin, schema, "SELECT") as role:
        found = findings(new_schema_url.replace("postgres@", f"{role}@", 1))["privileges"]
    assert found.severity is PROBLEM
    assert found.fix.startswith("GRANT")
    assert found.fix.endswith(f"TO {role}")


def test_what_others_hide_from_an_ordinary_user_is_not_called_well(
    new_schema_url: str, postgres: str, postgres_admin: Admin
) -> None:
    open_backend(new_schema_url).close()
    schema = new_schema_url.rpartition("=")[2]
    with a_role(postgres_admin, schema, "ALL") as role, psycopg.connect(postgres) as other:
        url = new_schema_url.replace("postgres@", f"{role}@", 1)
        other.execute("SELECT pg_current_xact_id()")
        unseen = findings(url)["oldest transaction"]
        assert (unseen.severity, "of other users" in unseen.what) == (WARNING, True)
        assert unseen.fix.startswith(f"GRANT pg_read_all_stats TO {role}")
        postgres_admin.execute(f"GRANT pg_read_all_stats TO {role}")
        assert findings(url)["oldest transaction"].severity is OK
        postgres_admin.execute(f"REVOKE pg_read_all_stats FROM {role}")


def test_an_ordinary_user_counts_the_connections_of_others_too(
    new_schema_url: str, postgres: str, postgres_admin: Admin
) -> None:
    open_backend(new_schema_url).close()
    schema = new_schema_url.rpartition("=")[2]
    with a_role(postgres_admin, schema, "ALL") as role, psycopg.connect(postgres):
        found = findings(new_schema_url.replace("postgres@", f"{role}@", 1))["connections"]
    connected = int(found.what.split()[0])
    # The two of the role itself, the administrator's, and the one above.
    assert connected >= 4
    reserved = "current_setting('superuser_reserved_connections')::int"
    [(most, kept)] = postgres_admin.execute(
        f"SELECT current_setting('max_connections')::int - {reserved}, {reserved}"
    ).fetchall()
    assert f"of {most} in use, besides {kept} that are reserved" in found.what


@pytest.mark.parametrize(
    ("changes", "check", "severity"),
    [
        ({"read_only": True}, "privileges", PROBLEM),
        ({"safe": False}, "durability", PROBLEM),
        ({"durable": False}, "durability", WARNING),
        ({"autovacuum": False}, "vacuum", PROBLEM),
        ({"dead": 1_000_000}, "vacuum", WARNING),
        ({"oldest": 3_600.0}, "oldest transaction", WARNING),
        ({"hidden": 2}, "oldest transaction", WARNING),
        ({"connected": 88}, "connections", WARNING),
        ({"connected": 99}, "connections", WARNING),
    ],
)
def test_what_is_wrong_is_named_with_a_fix(
    changes: dict[str, object], check: str, severity: Severity
) -> None:
    facts = WELL._replace(**changes)  # type: ignore[arg-type]
    found = [
        diagnosis.privileges(facts, HERE),
        diagnosis.durability(facts),
        diagnosis.vacuum(facts),
        diagnosis.oldest_transaction(facts),
        diagnosis.connections(facts, HERE),
    ]
    wrong = [one for one in found if one.severity is not OK]
    assert [(one.check, one.severity, bool(one.fix)) for one in wrong] == [(check, severity, True)]


@pytest.mark.parametrize("skew", [-3_600.0, 3_600.0])
def test_a_clock_that_is_off_is_named(skew: float) -> None:
    found = diagnosis.clock(skew)
    assert (found.severity, ("ahead" in found.what) == (skew < 0)) == (WARNING, True)


def test_connections_that_are_reserved_are_none_that_a_worker_can_open() -> None:
    assert "9 of 97 are free" in diagnosis.connections(WELL._replace(connected=88), HERE).what
    assert "0 of 97 are free" in diagnosis.connections(WELL._replace(connected=99), HERE).what


@pytest.mark.parametrize("mode", [Mode.SESSION, Mode.TRANSACTION])
def test_a_pooler_that_swallows_announcements_is_named_with_its_mode(mode: Mode) -> None:
    assert diagnosis.pooler(mode).severity is OK
    assert f"in {mode} mode" in diagnosis.pooler(mode).what
    found = diagnosis.listener(mode, heard=False, location=HERE)
    assert (found.severity, f"a pooler in {mode} mode" in found.what) == (WARNING, True)


def test_a_pooler_in_statement_mode_is_a_problem() -> None:
    found = diagnosis.pooler(Mode.STATEMENT)
    assert (found.severity, "pool_mode = transaction" in found.fix) == (PROBLEM, True)


def test_announcements_that_come_late_are_named_though_nothing_stands_between() -> None:
    found = diagnosis.listener(Mode.DIRECT, heard=False, location=HERE)
    assert (found.severity, "took over 2 s" in found.what) == (WARNING, True)
