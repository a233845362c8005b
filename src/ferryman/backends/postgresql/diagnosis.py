"""What only this store can know about itself: its server, its tables, and what lies between."""

from __future__ import annotations

import select
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from ferryman.backends.postgresql.statements import VERSIONS, fill
from ferryman.ids import new_id
from ferryman.queue.diagnosis import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.postgresql.connection import Database
    from ferryman.backends.postgresql.location import Location

SKEW: Final = 1.0
LONG: Final = 300.0
DEAD: Final = 200_000
HEARD_WITHIN: Final = 2.0

_FACTS: Final = """
SELECT
    (SELECT version FROM {schema}.about) AS version,
    (
        SELECT bool_and(has_table_privilege(relid, needed))
        FROM pg_stat_user_tables, unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) AS needed
        WHERE schemaname = '{schema}'
    ) AS may_write,
    pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS read_only,
    extract(epoch FROM clock_timestamp())::float8 AS time,
    current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on' AS safe,
    current_setting('synchronous_commit') <> 'off' AS durable,
    current_setting('autovacuum') = 'on' AS autovacuum,
    current_setting('max_connections')::int AS connections,
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connected,
    (
        SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::float8
        FROM pg_stat_activity
        WHERE datname = current_database() AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
    ) AS oldest,
    (
        SELECT n_dead_tup FROM pg_stat_user_tables
        WHERE schemaname = '{schema}' AND relname = 'jobs'
    ) AS dead,
    pg_backend_pid() AS backend
"""


class Facts(NamedTuple):
    """What the server says of itself; times in seconds."""

    version: int
    may_write: bool
    read_only: bool
    time: float
    safe: bool
    durable: bool
    autovacuum: bool
    connections: int
    connected: int
    oldest: float
    dead: int
    backend: int


def diagnose(database: Database) -> Sequence[Finding]:
    """Every probe, from the schema to the line between us and the server."""
    location = database.location
    connection = database.open()
    try:
        before = time.time()
        rows = connection.execute(fill(_FACTS, location)).fetchall()
        facts = Facts(*rows[0])
        skew = facts.time - (before + time.time()) / 2
        direct = facts.backend == connection.info.backend_pid
    finally:
        connection.close()
    return [
        schema(facts, location),
        privileges(facts, location),
        durability(facts),
        clock(skew),
        vacuum(facts),
        oldest_transaction(facts),
        connections(facts, location),
        # To listen in a pooler's session would be heard by whoever has that session next.
        pooler(direct=direct, hears=direct and _hears(database), location=location),
    ]


def schema(facts: Facts, location: Location) -> Finding:
    return Finding.ok("schema", f"{location.schema}, version {facts.version} of {len(VERSIONS)}")


def privileges(facts: Facts, location: Location) -> Finding:
    if facts.read_only:
        return Finding.problem(
            "privileges",
            "the server takes no writes: it is a standby, or was set read-only",
            "name the primary in the URL, or several hosts with target_session_attrs=read-write",
        )
    if facts.may_write:
        return Finding.ok("privileges", "this user may read and write every table")
    return Finding.problem(
        "privileges",
        f"this user may not write every table of {location.schema}",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {location.schema} TO <user>",
    )


def durability(facts: Facts) -> Finding:
    if not facts.safe:
        return Finding.problem(
            "durability",
            "fsync or full_page_writes is off: a crash of the machine may damage the database",
            "turn both on in postgresql.conf",
        )
    if not facts.durable:
        return Finding.warning(
            "durability",
            "synchronous_commit is off: a crash of the server may take the last pushes with it",
            "ALTER ROLE <user> SET synchronous_commit = on, unless you can live with that",
        )
    return Finding.ok("durability", "what was pushed survives a crash of the server")


def clock(skew: float) -> Finding:
    if abs(skew) <= SKEW:
        return Finding.ok("clock", f"{abs(skew) * 1_000:.0f} ms between here and the server")
    return Finding.warning(
        "clock",
        f"this machine's clock is {abs(skew):.1f} s {'behind' if skew > 0 else 'ahead of'} the "
        "server's; jobs go by the server's, handlers and logs by this one",
        "let both machines follow the same time service",
    )


def vacuum(facts: Facts) -> Finding:
    if not facts.autovacuum:
        return Finding.problem(
            "vacuum", "autovacuum is off: claims get slower with every job", "turn it on"
        )
    if facts.dead > DEAD:
        return Finding.warning(
            "vacuum",
            f"{facts.dead:,} dead rows among the unfinished jobs slow every claim down",
            "end what holds an old transaction open, then VACUUM; see oldest transaction",
        )
    return Finding.ok("vacuum", f"{facts.dead:,} dead rows among the unfinished jobs")


def oldest_transaction(facts: Facts) -> Finding:
    if facts.oldest <= LONG:
        return Finding.ok("oldest transaction", f"{facts.oldest:.0f} s")
    return Finding.warning(
        "oldest transaction",
        f"one has been open for {facts.oldest / 60:.0f} minutes: until it ends no dead row goes",
        "find it in pg_stat_activity by xact_start; set idle_in_transaction_session_timeout",
    )


def connections(facts: Facts, location: Location) -> Finding:
    free, wanted = facts.connections - facts.connected, location.connections + location.listen
    if free >= wanted:
        return Finding.ok("connections", f"{facts.connected} of {facts.connections} in use")
    return Finding.warning(
        "connections",
        f"{free} of {facts.connections} are free, and one worker may open {wanted}",
        "lower ?connections=, raise max_connections, or put PgBouncer in between",
    )


def pooler(*, direct: bool, hears: bool, location: Location) -> Finding:
    between = "directly connected" if direct else "through a pooler"
    if hears:
        return Finding.ok("listener", f"{between}, announcements arrive at once")
    if not location.listen:
        return Finding.ok("listener", f"{between}, turned off: workers find jobs by polling")
    return Finding.warning(
        "listener",
        f"{between}, and announcements do not arrive: idle workers find jobs by polling",
        "nothing is lost; connect workers directly for less delay, and leave the pooler to "
        "producers, or say ?listen=no",
    )


def _hears(database: Database) -> bool:
    """Whether what is announced on one connection arrives at another."""
    if not database.location.listen:
        return False
    channel = f"ferryman_probe_{new_id()[-12:]}"
    ear = database.open()
    try:
        ear.execute(f"LISTEN {channel}")
        database.read_text("SELECT pg_notify(%(channel)s, '')", {"channel": channel})
        until = time.monotonic() + HEARD_WITHIN
        while (left := until - time.monotonic()) > 0:
            if select.select([ear.fileno()], [], [], left)[0]:
                return bool([*ear.notifies(timeout=0, stop_after=1)])
        return False
    finally:
        ear.close()
