"""What the store finds out about its server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.backends.postgresql import diagnosis
from ferryman.backends.postgresql.diagnosis import Facts
from ferryman.backends.postgresql.location import Location
from ferryman.queue.diagnosis import Diagnosable, Finding, Severity
from ferryman.queue.open import open_backend

if TYPE_CHECKING:
    import psycopg

OK, WARNING, PROBLEM = Severity
WELL = Facts(
    version=1,
    may_write=True,
    read_only=False,
    time=0.0,
    safe=True,
    durable=True,
    autovacuum=True,
    connections=100,
    connected=7,
    oldest=1.0,
    dead=10,
    backend=1,
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
    assert found["listener"].what == "directly connected, announcements arrive at once"


def test_a_user_who_may_only_read_is_told_what_to_grant(
    new_schema_url: str, postgres: str, postgres_admin: psycopg.Connection[tuple[object, ...]]
) -> None:
    open_backend(new_schema_url).close()
    schema = new_schema_url.rpartition("=")[2]
    for statement in (
        f"CREATE ROLE reader_{schema} LOGIN",
        f"GRANT USAGE ON SCHEMA {schema} TO reader_{schema}",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO reader_{schema}",
    ):
        postgres_admin.execute(statement)
    found = findings(new_schema_url.replace("postgres@", f"reader_{schema}@", 1))["privileges"]
    assert (found.severity, "GRANT" in found.fix) == (PROBLEM, True)
    postgres_admin.execute(f"DROP OWNED BY reader_{schema}")
    postgres_admin.execute(f"DROP ROLE reader_{schema}")


@pytest.mark.parametrize(
    ("changes", "check", "severity"),
    [
        ({"read_only": True}, "privileges", PROBLEM),
        ({"safe": False}, "durability", PROBLEM),
        ({"durable": False}, "durability", WARNING),
        ({"autovacuum": False}, "vacuum", PROBLEM),
        ({"dead": 1_000_000}, "vacuum", WARNING),
        ({"oldest": 3_600.0}, "oldest transaction", WARNING),
        ({"connected": 95}, "connections", WARNING),
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


def test_a_pooler_that_swallows_announcements_is_named() -> None:
    found = diagnosis.pooler(direct=False, hears=False, location=HERE)
    assert (found.severity, "through a pooler" in found.what) == (WARNING, True)
