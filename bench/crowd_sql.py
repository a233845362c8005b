"""The statements that fill a store with a crowd, as each database writes them."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ferryman.backends.sqlite.location import Location as SqliteLocation

Run: TypeAlias = Callable[[str, Mapping[str, Any]], Sequence[Sequence[Any]]]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one database is filled: for each part of the numbers, then once at the end."""

    connect: Callable[[str], AbstractContextManager[Run]]
    finished: Sequence[str]
    waiting: Sequence[str]
    afterwards: Sequence[str]
    ends: str


# `h` is as good as chance for this: 2^32 divided by the golden ratio, times the number.
# Names in @: parameters. Names in {}: what the databases write differently.
_DRAWN: Final = """
WITH {recursive}
lines AS MATERIALIZED ({lines}),
ills AS MATERIALIZED ({ills}),
hands AS MATERIALIZED ({hands}),
drawn AS (SELECT n, n * 2654435761 % 4294967296 AS h FROM {numbers}),
"""
_FINISHED: Final = """{drawn}
dealt AS (
    SELECT
        n,
        h,
        CASE WHEN h / 64 % 100 < 96 THEN 'completed'
            WHEN h / 64 % 100 < 98 THEN 'failed'
            ELSE 'cancelled'
        END AS state,
        @begin + (n - 1) * @step AS created,
        0.05 * (1 + h / 8192 % 5) AS wait,
        0.02 * (1 + h / 65536 % 5) AS run,
        n % 50021 = 250 AS rare
    FROM drawn
)
INSERT INTO {history} (
    seq, id, queue, task, state, scheduled, priority, ready_at, version, attempts, max_attempts,
    fence, generation, given_back, created_at, started_at, finished_at, worker, turn, settled, key,
    correlation_id, meta, error, body, result
)
SELECT
    n,
    {id},
    CASE WHEN rare THEN @rare ELSE lines.queue END,
    CASE WHEN rare THEN @rare || '.send' ELSE lines.task END,
    state,
    {false},
    CASE WHEN h / 1048576 % 10 = 0 THEN 10 ELSE 0 END,
    created,
    1,
    CASE WHEN state = 'cancelled' THEN 0 ELSE 1 END,
    5,
    CASE WHEN state = 'cancelled' THEN 0 ELSE 1 END,
    1,
    0,
    created,
    CASE WHEN state <> 'cancelled' THEN created + wait END,
    CASE WHEN state <> 'cancelled' THEN created + wait + run ELSE created + wait END,
    CASE WHEN state <> 'cancelled' THEN hands.name END,
    CASE WHEN state <> 'cancelled' THEN n / 100 END,
    CASE WHEN state = 'completed' THEN '1:' || hands.name || ':ack'
        WHEN state = 'failed' THEN '1:' || hands.name || ':fail'
    END,
    CASE WHEN n % 10 = 0 THEN 'order-' || n END,
    CASE WHEN n % 2 = 0 THEN 'request-' || (n / 10) END,
    CASE WHEN n % 10 = 3 THEN '{"user_id": "u' || (n / 10 % 5000) || '"}' END,
    CASE WHEN state = 'failed' THEN ills.text || n END,
    {body},
    CASE WHEN state = 'completed' THEN '{"sent": true}' END
FROM dealt
JOIN lines ON lines.place = h / 256 % (SELECT count(*) FROM lines)
JOIN ills ON ills.place = h / 4096 % (SELECT count(*) FROM ills)
JOIN hands ON hands.place = h / 16384 % (SELECT count(*) FROM hands)
"""
_WAITING: Final = """{drawn}
dealt AS (
    SELECT
        n,
        h,
        @backlog + (n - @before - 1) * @gap AS created,
        h / 64 % 100 >= 95 AND h / 64 % 100 < 99 AS later,
        h / 64 % 100 = 99 AS held
    FROM drawn
)
INSERT INTO {jobs} (
    seq, id, queue, task, state, scheduled, priority, ready_at, version, max_attempts, created_at,
    key, correlation_id, meta, body
)
SELECT
    n,
    {id},
    lines.queue,
    lines.task,
    CASE WHEN held THEN 'paused' ELSE 'pending' END,
    {later},
    CASE WHEN h / 1048576 % 10 = 0 THEN 10 ELSE 0 END,
    CASE WHEN later THEN @now + 3600 + h % 82800 ELSE created END,
    1,
    5,
    created,
    CASE WHEN n % 10 = 0 THEN 'order-' || n END,
    CASE WHEN n % 2 = 0 THEN 'request-' || (n / 10) END,
    CASE WHEN n % 10 = 3 THEN '{"user_id": "u' || (n / 10 % 5000) || '"}' END,
    {body}
FROM dealt
JOIN lines ON lines.place = h / 256 % (SELECT count(*) FROM lines)
"""
_ERRORS: Final = """
INSERT INTO {errors} (seq, attempt, at, worker, kind, text, traceback)
SELECT
    seq,
    1,
    finished_at,
    worker,
    {kind},
    error,
    'Traceback (most recent call last):' || {newline} || '  File "crowd.py", line 1, in handle'
        || {newline} || error || {newline}
FROM {history}
WHERE seq BETWEEN @first AND @last AND state = 'failed'
"""
_ENDS: Final = """
SELECT
    {bucket}, queue, worker, state, {wait}, {run}, count(*)
FROM {history}
WHERE state IN ('completed', 'failed') AND finished_at > @since
GROUP BY 1, 2, 3, 4, 5, 6
"""
_BODY: Final = """'{"i":' || n || ',"user_id":' || (n / 10) || ',"email":"someone-' || n
    || '@example.com","template":"welcome-message","lang":"en","retry":false}'"""

_ON_SQLITE: Final = {
    "drawn": _DRAWN,
    "recursive": "RECURSIVE numbers (n) AS (\n"
    "    SELECT @first UNION ALL SELECT n + 1 FROM numbers WHERE n < @last\n), ",
    "numbers": "numbers",
    "lines": "SELECT key AS place, value ->> 0 AS queue, value ->> 1 AS task"
    " FROM json_each(@lines)",
    "ills": "SELECT key AS place, value ->> 1 AS text FROM json_each(@errors)",
    "hands": "SELECT key AS place, value AS name FROM json_each(@workers)",
    "history": "jobs",
    "jobs": "jobs",
    "errors": "errors",
    "id": "printf('%08x-%04x-7%03x-%04x-%012x', CAST(created * 1000 AS INTEGER) >> 16,"
    " CAST(created * 1000 AS INTEGER) & 65535, n & 4095, 32768 + (h & 16383),"
    " h * 65536 + (n & 65535))",
    "false": "0",
    "later": "later",
    "body": _BODY,
    "kind": "substr(error, 1, instr(error, ':') - 1)",
    "newline": "char(10)",
    "bucket": "CAST(finished_at / 300 AS INTEGER) * 300",
    "wait": "round(started_at - created_at, 2)",
    "run": "round(finished_at - started_at, 2)",
}
_META: Final = """
INSERT INTO meta (name, value, seq)
SELECT 'user_id', meta ->> 'user_id', seq
FROM jobs
WHERE seq BETWEEN @first AND @last AND meta IS NOT NULL
"""
_COUNTS: Final = """
INSERT INTO counts (queue, state, n)
SELECT queue, state, count(*) FROM jobs GROUP BY queue, state
UNION ALL
SELECT queue, 'scheduled', sum(scheduled) FROM jobs WHERE state = 'pending' GROUP BY queue
"""

_ON_POSTGRESQL: Final = _ON_SQLITE | {
    "recursive": "",
    "numbers": "generate_series(@first::bigint, @last::bigint) AS n",
    "lines": "SELECT place - 1 AS place, line ->> 0 AS queue, line ->> 1 AS task"
    " FROM jsonb_array_elements(@lines::jsonb) WITH ORDINALITY AS one (line, place)",
    "ills": "SELECT place - 1 AS place, line ->> 1 AS text"
    " FROM jsonb_array_elements(@errors::jsonb) WITH ORDINALITY AS one (line, place)",
    "hands": "SELECT place - 1 AS place, name"
    " FROM jsonb_array_elements_text(@workers::jsonb) WITH ORDINALITY AS one (name, place)",
    "history": "history",
    "id": "lpad(to_hex((created * 1000)::bigint >> 16), 8, '0') || '-'"
    " || lpad(to_hex((created * 1000)::bigint & 65535), 4, '0') || '-7'"
    " || lpad(to_hex(n & 4095), 3, '0') || '-' || to_hex(32768 + (h & 16383)) || '-'"
    " || lpad(to_hex(h * 65536 + (n & 65535)), 12, '0')",
    "false": "false",
    "kind": "split_part(error, ':', 1)",
    "newline": "chr(10)",
    "bucket": "floor(finished_at / 300)::bigint * 300",
    "wait": "round((started_at - created_at)::numeric, 2)",
    "run": "round((finished_at - started_at)::numeric, 2)",
}


@contextmanager
def _sqlite(url: str) -> Iterator[Run]:
    path = SqliteLocation.parse(url).path
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        # What is filled here can be filled again: nothing has to survive a loss of power.
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA cache_size = -1000000")
        yield lambda text, values: connection.execute(text, values).fetchall()


@contextmanager
def _postgresql(url: str) -> Iterator[Run]:
    import psycopg

    from ferryman.backends.postgresql.location import Location

    location = Location.parse(url)
    with psycopg.connect(location.conninfo, autocommit=True) as connection:
        connection.execute(f"SET search_path = {location.schema}")
        connection.execute("SET statement_timeout = 0")
        connection.execute("SET synchronous_commit = off")

        def run(text: str, values: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
            cursor = connection.execute(text, values or None)
            return cursor.fetchall() if cursor.description else []

        yield run


def _written(text: str, words: Mapping[str, str], mark: str) -> str:
    for name, word in words.items():
        text = text.replace(f"{{{name}}}", word)
    if mark == "%s":
        text = text.replace("%", "%%")
    return re.sub(
        r"@([a-z]+)\b(?!\.)", lambda m: f"%({m[1]})s" if mark == "%s" else f":{m[1]}", text
    )


def _for_sqlite(text: str) -> str:
    return _written(text, _ON_SQLITE, ":")


def _for_postgresql(text: str) -> str:
    return _written(text, _ON_POSTGRESQL, "%s")


SQLITE: Final = Dialect(
    _sqlite,
    (*map(_for_sqlite, (_FINISHED, _ERRORS, _META)),),
    (*map(_for_sqlite, (_WAITING, _META)),),
    (_COUNTS, "DELETE FROM counts WHERE n = 0", "PRAGMA wal_checkpoint(TRUNCATE)"),
    _for_sqlite(_ENDS),
)
POSTGRESQL: Final = Dialect(
    _postgresql,
    (*map(_for_postgresql, (_FINISHED, _ERRORS)),),
    (_for_postgresql(_WAITING),),
    (
        "SELECT setval(pg_get_serial_sequence('jobs', 'seq'), greatest("
        "(SELECT max(seq) FROM jobs), (SELECT max(seq) FROM history)))",
        # As the server's own housekeeping has done by the time a store is this large.
        "VACUUM (ANALYZE) history",
        "VACUUM (ANALYZE) jobs",
        "VACUUM (ANALYZE) errors",
    ),
    _for_postgresql(_ENDS),
)
