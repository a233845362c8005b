"""Whose schema it is, and of which version: made, brought up to date, or left untouched."""

from __future__ import annotations

import contextlib
from typing import Final

import psycopg

from ferryman.backends.postgresql.errors import translate
from ferryman.backends.postgresql.location import Location
from ferryman.backends.postgresql.patient import PatientConnection
from ferryman.backends.postgresql.statements import fill, versions
from ferryman.errors import BackendRejected
from ferryman.ids import new_id

OLDEST: Final = 140_000
# To change large tables takes its time, and others wait for whoever does it.
_PATIENCE: Final = 3_600.0

_SETTINGS: Final = """
SELECT
    current_setting('server_version_num')::int,
    current_setting('server_encoding'),
    current_setting('default_transaction_isolation'),
    EXISTS (SELECT FROM pg_tables WHERE schemaname = '{schema}' AND tablename = 'about'),
    EXISTS (
        SELECT FROM pg_tables WHERE schemaname = '{schema}' AND tablename IN ('jobs', 'history')
    )
"""
_ABOUT: Final = "SELECT version, store FROM {schema}.about"
_OWNER: Final = """
SELECT current_user::text, min(tableowner)::text
FROM pg_tables WHERE schemaname = '{schema}' AND NOT pg_has_role(tableowner, 'USAGE')
"""
_MAKE_ABOUT: Final = """
CREATE TABLE {schema}.about (version integer NOT NULL, store text NOT NULL)
"""


def identify(connection: PatientConnection, location: Location) -> tuple[int, str]:
    """The schema's version, 0 before it is made, and the store's own id; reads only."""
    row = connection.execute(fill(_SETTINGS, location)).fetchone()
    assert row is not None  # noqa: S101 - a SELECT of values
    server, encoding, isolation, ours, tables = row
    _check_server(location, server, encoding, isolation)
    if not ours:
        if tables:
            raise BackendRejected(
                f"the schema {location.schema} of {location.name} holds another program's tables: "
                "choose another with ?schema="
            )
        return 0, ""
    about = connection.execute(fill(_ABOUT, location)).fetchone()
    version, store = about or (0, "")
    if version > len(versions(location)):
        raise BackendRejected(
            f"the schema {location.schema} of {location.name} has version {version}, this Ferryman "
            f"knows up to {len(versions(location))}: upgrade Ferryman here"
        )
    return int(version), str(store)


def migrate(connection: PatientConnection, location: Location) -> str:
    """Make the schema or bring it up to date, one process at a time; the store's own id."""
    connection.patience, usual = _PATIENCE, connection.patience
    version = 0
    try:
        with connection.transaction():
            connection.execute(fill("SELECT pg_advisory_xact_lock({schema_lock})", location))
            # Another process may have been faster.
            version, store = identify(connection, location)
            if version == 0:
                store = _make_about(connection, location)
            _run_scripts(connection, location, version)
    except psycopg.errors.InsufficientPrivilege as error:
        refusal = _refusal_to_a_guest(connection, location, version) if version else None
        raise (refusal or error) from error
    connection.patience = usual
    return store


def version_of(url: str) -> int:
    """The version of the schema that a URL names, 0 if it is not made yet; reads only."""
    location = Location.parse(url)
    try:
        connection = PatientConnection.open(location.conninfo, location.timeout)
        with contextlib.closing(connection):
            return identify(connection, location)[0]
    except psycopg.Error as error:
        raise translate(error, location.name) from error


def script(location: Location, version: int) -> str:
    """What `migrate` does to a store of this version, for somebody else to run."""
    scripts = versions(location)[version:]
    if not scripts:
        return f"-- version {len(versions(location))} is the present one"
    begin = ["BEGIN;", f"SET LOCAL search_path = {location.schema};"]
    if version == 0:
        made = fill("INSERT INTO {schema}.about VALUES (0, gen_random_uuid()::text)", location)
        begin[1:1] = [
            f"CREATE SCHEMA IF NOT EXISTS {location.schema};",
            f"{fill(_MAKE_ABOUT, location).strip()};",
            f"{made};",
        ]
    end = f"UPDATE {location.schema}.about SET version = {version + len(scripts)};"  # noqa: S608
    return "\n".join([*begin, *scripts, end, "COMMIT;"])


def _make_about(connection: PatientConnection, location: Location) -> str:
    _make_schema(connection, location)
    connection.execute(fill(_MAKE_ABOUT, location))
    store = new_id()
    statement = fill("INSERT INTO {schema}.about VALUES (0, %s)", location)
    connection.execute(statement, [store])
    return store


def _run_scripts(connection: PatientConnection, location: Location, version: int) -> None:
    scripts = versions(location)
    connection.execute(f"SET LOCAL search_path = {location.schema}")
    for script in scripts[version:]:
        connection.execute(script)
    statement = fill("UPDATE {schema}.about SET version = %s", location)
    connection.execute(statement, [len(scripts)])


def _refusal_to_a_guest(
    connection: PatientConnection, location: Location, version: int
) -> BackendRejected | None:
    """What helps a user whom the tables do not belong to: no grant does. None for the owner."""
    found = connection.execute(fill(_OWNER, location)).fetchone()
    user, owner = found or ("", None)
    if owner is None:
        return None
    return BackendRejected(
        f"the schema {location.schema} of {location.name} has version {version}, this Ferryman "
        f"needs {len(versions(location))}, and only {owner}, whom its tables belong to, may change "
        f"them, not {user}: let {owner} run `ferryman migrate`, or what "
        f"`ferryman migrate --sql --from {version}` prints"
    )


def _make_schema(connection: PatientConnection, location: Location) -> None:
    # IF NOT EXISTS asks for the right to create even where nothing is to be created.
    query = "SELECT FROM pg_namespace WHERE nspname = %s"
    if connection.execute(query, [location.schema]).rowcount:
        return
    try:
        connection.execute(f"CREATE SCHEMA {location.schema}")
    except psycopg.errors.InsufficientPrivilege as error:
        raise BackendRejected(
            f"this user may not create the schema {location.schema} in {location.name}: let an "
            f"administrator run CREATE SCHEMA {location.schema} AUTHORIZATION <user>"
        ) from error


def _check_server(location: Location, server: int, encoding: str, isolation: str) -> None:
    if server < OLDEST:
        raise BackendRejected(
            f"{location.name} is PostgreSQL {server // 10_000}: Ferryman needs 14 or newer"
        )
    if encoding != "UTF8":
        raise BackendRejected(
            f"the database of {location.name} is encoded in {encoding}: use one in UTF8"
        )
    if isolation != "read committed":
        raise BackendRejected(
            f"{location.name} starts transactions as {isolation}: run ALTER ROLE <user> SET "
            "default_transaction_isolation = 'read committed'"
        )
