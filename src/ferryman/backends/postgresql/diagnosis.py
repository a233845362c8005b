"""What only this store can know about itself: its server, its tables, and what lies between."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Final, NamedTuple

import psycopg

from ferryman.backends.postgresql.errors import translate
from ferryman.backends.postgresql.pooler import HEARD_WITHIN, Mode, hears, mode_of
from ferryman.backends.postgresql.statements import VERSIONS, fill
from ferryman.queue.diagnosis import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.postgresql.connection import Database
    from ferryman.backends.postgresql.location import Location

SKEW: Final = 1.0
LONG: Final = 300.0
DEAD: Final = 200_000

# Of sessions whose role this one may not see there are rows, without what they are about.
_FACTS: Final = """
WITH sessions AS (
    SELECT
        backend_type IS NULL AS hidden,
        datname = current_database() AS here,
        CASE WHEN backend_xmin IS NOT NULL OR backend_xid IS NOT NULL THEN xact_start END AS began
    FROM pg_stat_activity
    WHERE datid IS NOT NULL AND usesysid IS NOT NULL
    AND coalesce(backend_type, 'client backend') = 'client backend'
)
SELECT
    quote_ident(current_user) AS role,
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
    current_setting('superuser_reserved_connections')::int
        + coalesce(current_setting('reserved_connections', true), '0')::int AS reserved,
    (SELECT count(*) FROM sessions) AS connected,
    (SELECT count(*) FROM sessions WHERE here AND hidden) AS hidden,
    (
        SELECT coalesce(max(extract(epoch FROM clock_timestamp() - began)), 0)::float8
        FROM sessions WHERE here
    ) AS oldest,
    (
        SELECT n_dead_tup FROM pg_stat_user_tables
        WHERE schemaname = '{schema}' AND relname = 'jobs'
    ) AS dead
"""


class Facts(NamedTuple):
    """What the server says of itself and of `role`, ourselves; times in seconds.

    Of `connections` some are `reserved`, which no worker can count on. `hidden` sessions of this
    database do not show us their transactions.
    """

    role: str
    version: int
    may_write: bool
    read_only: bool
    time: float
    safe: bool
    durable: bool
    autovacuum: bool
    connections: int
    reserved: int
    connected: int
    hidden: int
    oldest: float
    dead: int


def diagnose(database: Database) -> Sequence[Finding]:
    """Every probe, from the schema to the line between us and the server."""
    location = database.location
    try:
        facts, skew = _ask(database)
        mode = mode_of(database)
        # To listen in a session that moves would be heard by whoever has it next.
        stays = mode in (Mode.DIRECT, Mode.SESSION)
        heard = location.listen and stays and hears(database)
    except psycopg.Error as error:
        raise translate(error, location.name) from error
    return [
        schema(facts, location),
        privileges(facts, location),
        durability(facts),
        clock(skew),
        vacuum(facts),
        oldest_transaction(facts),
        connections(facts, location),
        pooler(mode),
        listener(mode, heard=heard, location=location),
    ]


def _ask(database: Database) -> tuple[Facts, float]:
    """The facts, and how many seconds the server's clock is ahead of this machine's."""
    with contextlib.closing(database.open()) as connection:
        before = time.time()
        [row] = connection.execute(fill(_FACTS, database.location)).fetchall()
        facts = Facts(*row)
        return facts, facts.time - (before + time.time()) / 2


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
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {location.schema} "
        f"TO {facts.role}",
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
            f"ALTER ROLE {facts.role} SET synchronous_commit = on, unless you can live with that",
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
    if facts.oldest > LONG:
        return Finding.warning(
            "oldest transaction",
            f"one has been open for {facts.oldest / 60:.0f} minutes: until it ends no dead row "
            "goes",
            "find it in pg_stat_activity by xact_start; set idle_in_transaction_session_timeout",
        )
    if facts.hidden:
        return Finding.warning(
            "oldest transaction",
            f"{facts.oldest:.0f} s among those that {facts.role} may see; {facts.hidden} sessions "
            "of other users do not show theirs",
            f"GRANT pg_read_all_stats TO {facts.role}, or run doctor as a user who has it",
        )
    return Finding.ok("oldest transaction", f"{facts.oldest:.0f} s")


def connections(facts: Facts, location: Location) -> Finding:
    budget = facts.connections - facts.reserved
    free, wanted = max(0, budget - facts.connected), location.connections + location.listen
    besides = f"besides {facts.reserved} that are reserved for administrators"
    if free >= wanted:
        return Finding.ok("connections", f"{facts.connected} of {budget} in use, {besides}")
    return Finding.warning(
        "connections",
        f"{free} of {budget} are free, {besides}, and one worker may open {wanted}",
        "lower ?connections=, raise max_connections, or put PgBouncer in between",
    )


def pooler(mode: Mode) -> Finding:
    match mode:
        case Mode.DIRECT:
            return Finding.ok("pooler", "none, directly connected")
        case Mode.SESSION:
            what = "in session mode: each connection of ours keeps one of the server's"
        case Mode.TRANSACTION:
            what = "in transaction mode: every promise holds"
        case Mode.STATEMENT:
            return Finding.problem(
                "pooler",
                "in statement mode, which refuses transactions: no worker can run",
                "set pool_mode = transaction in pgbouncer.ini, at least for this database",
            )
    return Finding.ok("pooler", what)


def listener(mode: Mode, *, heard: bool, location: Location) -> Finding:
    direct = mode is Mode.DIRECT
    between = "directly connected" if direct else f"through a pooler in {mode} mode"
    if not location.listen:
        return Finding.ok("listener", f"{between}, turned off: workers find jobs by polling")
    if direct and heard:
        return Finding.ok("listener", f"{between}, announcements arrive at once")
    if direct:
        return Finding.warning(
            "listener",
            f"{between}, but an announcement took over {HEARD_WITHIN:g} s: workers find jobs late "
            "or by polling",
            "nothing is lost; look at pg_notification_queue_usage() and at the server's load",
        )
    arrives = "would arrive, but workers do not rely on a pooler for them" if heard else "get lost"
    return Finding.warning(
        "listener",
        f"{between}, announcements {arrives}: idle workers find jobs by polling",
        "nothing is lost; connect workers directly for less delay, and leave the pooler to "
        "producers, or say ?listen=no",
    )
