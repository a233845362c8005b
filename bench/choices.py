"""What PostgreSQL was chosen to do, beside what it could do instead: `python -m bench.choices`.

Each choice is measured with our own tables and indexes, by turns with its alternatives; figures are
medians. Name one or more of them to measure only those.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import TYPE_CHECKING, Any, Final, cast

import psycopg

from bench.contender import QUEUE, payload
from bench.measure import percentile
from bench.ours import WORKER, OursOnPostgresql
from bench.postgres_server import postgres_url, postgresql, schema_of
from bench.stand import stand_for
from ferryman.queue.heartbeat import Beat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Server = psycopg.Connection[tuple[Any, ...]]

ROUNDS: Final = 5
BATCHES: Final = (1, 5, 10, 20, 50, 100, 1_000)
INSERTED: Final = 2_000
CLAIMED: Final = 5_000
BEATS: Final = 3
STEADY: Final = 180.0
"""Seconds of each autovacuum setting: it looks once a minute."""
LAST: Final = 60.0
AT_ONCE: Final = 100

_COLUMNS: Final = (
    "id, queue, task, body, version, priority, max_attempts, created_at, ready_at, scheduled"
)
_TYPES: Final = (
    "%s::text[], %s::text[], %s::text[], %s::text[], %s::int[], %s::int[], %s::int[], "
    "%s::float8[], %s::float8[], %s::bool[]"
)
_DEFAULTS: Final = (
    "autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold, "
    "autovacuum_vacuum_insert_scale_factor, autovacuum_analyze_scale_factor, "
    "autovacuum_vacuum_cost_delay"
)


def main(names: Sequence[str], *, share: float = 1.0) -> None:
    """Measure these choices, or all; `share` of the load."""
    with postgresql():
        for name in names or CHOICES:
            _say(f"\n{name}")
            for line in CHOICES[name](share):
                _say(f"  {line}")


def insertion(share: float) -> Iterator[str]:
    """Jobs a second by the size of a batch: the function for each, one unnest, one stream.

    The last two look into history afterwards, as they have to.
    """
    ways: Mapping[str, Callable[[Server, str, Sequence[tuple[Any, ...]]], None]] = {
        "accept": _by_function,
        "unnest": _by_unnest,
        "copy": _by_copy,
    }
    yield f"{'batch':>6}" + "".join(f"{way:>10}" for way in ways) + "  jobs/s"
    for size in BATCHES:
        rates: dict[str, list[float]] = {way: [] for way in ways}
        with stand_for(OursOnPostgresql) as stand, _server() as server:
            schema = schema_of(stand.contender.folder)
            for number in range(ROUNDS):
                for way, insert in ways.items():
                    batches = _batches(f"{way}-{number}", size, share)
                    started = time.perf_counter()
                    for batch in batches:
                        with server.transaction():
                            insert(server, schema, batch)
                    seconds = time.perf_counter() - started
                    rates[way].append(size * len(batches) / seconds)
        medians = (statistics.median(rates[way]) for way in ways)
        yield f"{size:>6}" + "".join(f"{median:>10,.0f}" for median in medians)


def fillfactor(share: float) -> Iterator[str]:
    """How many heartbeats stay on their page, and what all of a job's life costs."""
    yield f"{'factor':>6}{'on page':>10}{'ms a beat':>11}{'MB':>7}{'cycles':>9}  jobs/s"
    for factor in (100, 85, 70, 50):
        beats, cycles = [], []
        for _ in range(ROUNDS):
            with stand_for(OursOnPostgresql) as stand, _server() as server:
                ours, table = stand.contender, f"{schema_of(stand.contender.folder)}.jobs"
                server.execute(f"ALTER TABLE {table} SET (fillfactor = {factor})".encode())
                started = time.perf_counter()
                stand.fill(round(CLAIMED * share))
                ours.claim(round(CLAIMED * share))
                beating = time.perf_counter()
                for _ in range(BEATS):
                    _beat(ours)
                beats.append((time.perf_counter() - beating) * 1_000 / BEATS)
                ours.settle()
                cycles.append(CLAIMED * share / (time.perf_counter() - started))
                # A session tells what it did at its end.
                ours.close()
                megabytes, on_page = _updates(server, table)
        yield (
            f"{factor:>6}{on_page:>10.0%}{statistics.median(beats):>11.1f}{megabytes:>7.1f}"
            f"{statistics.median(cycles):>9,.0f}"
        )


def autovacuum(share: float) -> Iterator[str]:
    """A steady load by the settings of the server and by ours: claims of its last minute."""
    yield f"{'settings':>8}{'p50':>8}{'p99':>8} ms{'dead rows':>12}{'MB':>7}{'jobs/s':>9}"
    for name in ("server's", "ours"):
        with stand_for(OursOnPostgresql) as stand, _server() as server:
            table = f"{schema_of(stand.contender.folder)}.jobs"
            if name != "ours":
                server.execute(f"ALTER TABLE {table} RESET ({_DEFAULTS})".encode())
            took = _steady(stand.contender, STEADY * share, LAST * share)
            stand.contender.close()
            megabytes, _ = _updates(server, table)
            dead = _row(server, "SELECT n_dead_tup FROM pg_stat_user_tables", table)[0]
        yield (
            f"{name:>8}{percentile(took, 0.5):>8.2f}{percentile(took, 0.99):>8.2f}   {dead:>12,}"
            f"{megabytes:>7.1f}{len(took) * AT_ONCE / (LAST * share):>9,.0f}"
        )


CHOICES: Final[Mapping[str, Callable[[float], Iterator[str]]]] = {
    "insertion": insertion,
    "fillfactor": fillfactor,
    "autovacuum": autovacuum,
}


def _batches(name: str, size: int, share: float) -> Sequence[Sequence[tuple[Any, ...]]]:
    count = max(1, round(min(INSERTED, 500 * size) * share / size))
    body = '{"email":"someone@example.com","template":"welcome-message","user_id":123456}'
    return [
        [
            (f"{name}-{place:06}-{number:04}", QUEUE, "noop", body, 1, 0, 5, 1.0, 1.0, False)
            for number in range(size)
        ]
        for place in range(count)
    ]


def _by_function(server: Server, schema: str, rows: Sequence[tuple[Any, ...]]) -> None:
    call = (
        f"SELECT {schema}.accept(%s, %s, %s, %s, %s, %s, %s, 0, NULL, NULL, NULL, NULL, NULL, NULL,"
        " NULL, false, NULL)"
    )
    server.cursor().executemany(call.encode(), [row[:7] for row in rows])


def _look_back(server: Server, schema: str, rows: Sequence[tuple[Any, ...]]) -> None:
    ids = "\n".join(row[0] for row in rows)
    server.execute(f"SELECT {schema}.any_finished(%s)".encode(), (ids,), prepare=True)


def _by_unnest(server: Server, schema: str, rows: Sequence[tuple[Any, ...]]) -> None:
    insert = (
        f"INSERT INTO {schema}.jobs ({_COLUMNS}) "  # noqa: S608
        f"SELECT * FROM unnest({_TYPES}) ON CONFLICT DO NOTHING"
    )
    columns = [list(column) for column in zip(*rows, strict=True)]
    server.execute(insert.encode(), columns, prepare=True)
    _look_back(server, schema, rows)


def _by_copy(server: Server, schema: str, rows: Sequence[tuple[Any, ...]]) -> None:
    # An id that is taken ends a stream: then all of them are called one by one.
    server.execute("SAVEPOINT batch")
    with server.cursor().copy(f"COPY {schema}.jobs ({_COLUMNS}) FROM STDIN".encode()) as stream:
        for row in rows:
            stream.write_row(row)
    _look_back(server, schema, rows)


def _beat(ours: OursOnPostgresql) -> None:
    beats = [Beat(job.id, job.fence, percent=1.0) for job in ours.claimed]
    if not all(pulse.held for pulse in ours.backend.heartbeat(WORKER, beats, lease=60.0)):
        raise RuntimeError("a lease was lost")


def _steady(ours: OursOnPostgresql, seconds: float, last: float) -> list[float]:
    """Milliseconds of each claim of the last seconds."""
    took = []
    until = time.perf_counter() + seconds
    while (now := time.perf_counter()) < until:
        ours.push_many([payload(number) for number in range(AT_ONCE)])
        _, claiming = ours.finish(AT_ONCE)
        if now > until - last:
            took.append(claiming * 1_000)
    return took


def _updates(server: Server, table: str) -> tuple[float, float]:
    """The table's megabytes, and the share of its updates that touched no index."""
    server.execute("SELECT pg_stat_force_next_flush()")
    updates, hot = _row(server, "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables", table)
    [(size,)] = server.execute("SELECT pg_relation_size(%s)", (table,)).fetchall()
    return size / 2**20, hot / max(1, updates)


def _row(server: Server, question: str, table: str) -> tuple[Any, ...]:
    schema, _, name = table.partition(".")
    where = f"{question} WHERE schemaname = %s AND relname = %s"
    row = server.execute(where.encode(), (schema, name)).fetchone()
    return cast("tuple[Any, ...]", row)


def _server() -> Server:
    return psycopg.connect(postgres_url(), autocommit=True)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
