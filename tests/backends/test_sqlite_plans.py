"""No verb looks at more than it must: by the query plans, and by the clock with a long backlog."""

from __future__ import annotations

import re
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from ferryman.backends.sql.where import where
from ferryman.backends.sqlite import SqliteBackend, connect
from ferryman.backends.sqlite.counts import SCHEDULED
from ferryman.backends.sqlite.filtering import DIALECT
from ferryman.backends.sqlite.transaction import SQL
from ferryman.clock import SystemClock
from ferryman.filter import Filter
from ferryman.ids import new_id
from ferryman.job import State
from ferryman.message import Message
from ferryman.testing.conformance.given import claims, in_state

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# Statements that go through a whole table on purpose: small ones, and `list` where it must.
SMALL = {"counts", "drop_empty_counts", "paused_queues"}
# Statements that sort what indexes have found: the push order of a line of waiting jobs.
SORTED = {"same_key", "newest_ready", "newest_scheduled", "newest_claimed", "newest_of"}
BY_ID = "SEARCH jobs USING INDEX sqlite_autoindex_jobs_1 (id=?)"
BY_SEQ = "SEARCH jobs USING INTEGER PRIMARY KEY (rowid=?)"

PLANS = {
    "find": [BY_ID],
    "claim": [BY_ID],
    "get": [BY_ID],
    "ack": [BY_ID],
    "heartbeat": [BY_ID],
    "land": [BY_SEQ],
    "cancel": [BY_SEQ],
    "pause": [BY_SEQ],
    "resume": [BY_SEQ],
    "retry": [BY_SEQ],
    "poll": ["SEARCH jobs USING INDEX ready (queue=? AND task=?)"],
    "lease": [BY_SEQ],
    "claimed": [BY_SEQ],
    "ready_tasks": [
        "SEARCH jobs USING INDEX ready (queue=?)",
        "SEARCH jobs USING INDEX ready (queue=? AND task>?)",
    ],
    "promote": ["SEARCH jobs USING INDEX scheduled (queue=? AND ready_at<?)"],
    "ahead": [
        "SEARCH jobs USING INDEX ready (queue=?)",
        "SEARCH jobs USING INDEX scheduled (queue=?)",
    ],
    "due": ["SEARCH jobs USING INDEX scheduled (queue=? AND ready_at<?)"],
    "same_key": [
        "SEARCH jobs USING INDEX keys (key=? AND queue=? AND state=? AND created_at>?)",
    ],
    "overdue": [
        "SEARCH jobs USING INDEX leases (expires_at<?)",
        "SEARCH jobs USING INDEX deadlines (deadline>? AND deadline<?)",
    ],
    "expired_leases": ["SEARCH jobs USING INDEX leases (expires_at<?)"],
    "expired_jobs": ["SEARCH jobs USING INDEX deadlines (deadline>? AND deadline<?)"],
    "claims_of": ["SCAN jobs USING INDEX leases"],
    "finished_before": ["SEARCH jobs USING INDEX finished (state=? AND finished_at<?)"],
    "waiting_ready": ["SEARCH jobs USING INDEX ready (queue=?)"],
    "waiting_scheduled": ["SEARCH jobs USING INDEX scheduled (queue=?)"],
    "waiting_paused": ["SEARCH jobs USING INDEX set_aside (state=? AND rowid<?)"],
    "of_processing": ["SCAN jobs USING INDEX leases"],
    "of_failed": ["SEARCH jobs USING COVERING INDEX set_aside (state=?)"],
    "list": ["SEARCH jobs USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"],
    "ended_tasks": [
        "SEARCH jobs USING COVERING INDEX ended (queue=?)",
        "SEARCH jobs USING COVERING INDEX ended (queue=? AND task>?)",
    ],
    "newest_ended": [
        "SEARCH jobs USING COVERING INDEX ended (queue=? AND task=? AND state=? AND rowid<?)"
    ],
    "newest_aside": ["SEARCH jobs USING COVERING INDEX set_aside (state=? AND rowid<?)"],
    "newest_ready": ["SEARCH jobs USING INDEX ready (queue=? AND task=?)"],
    "newest_waiting": [
        "SEARCH jobs USING COVERING INDEX waiting (scheduled=? AND state=? AND rowid>? AND rowid<?)"
    ],
    "far_waiting": [
        "SEARCH jobs USING COVERING INDEX waiting (scheduled=? AND state=? AND rowid<?)"
    ],
    "of_pending": ["SEARCH jobs USING COVERING INDEX waiting (scheduled>?)"],
    "ended_since": ["SEARCH jobs USING COVERING INDEX finished (state=? AND finished_at>?)"],
    "depth_of_tenant": ["SEARCH jobs USING INDEX tenants (queue=? AND tenant=?)"],
    "without_turn": ["SEARCH jobs USING INDEX without_turn (queue=?)"],
}
# Statements for which the schema has pending jobs in push order.
BY_WAITING = {"newest_waiting", "far_waiting", "of_pending"}
# What a recursion has found so far.
STEPS = "tasks|lines|tenants|tenant_lines"
OWN_TURN = "SEARCH mine USING INDEX tenants (queue=? AND tenant=? AND priority=?)"


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[SqliteBackend]:
    backend = connect(f"sqlite:///{tmp_path}/jobs.db?synchronous=normal", SystemClock())
    yield backend
    backend.close()


@pytest.mark.parametrize("name", PLANS)
def test_a_statement_finds_its_jobs_by_an_index(backend: SqliteBackend, name: str) -> None:
    steps = [step for step in plan(backend, name) if " jobs" in step]
    assert steps == PLANS[name]


@pytest.mark.parametrize("name", sorted(SQL.keys() - SMALL))
def test_no_statement_scans_a_table(backend: SqliteBackend, name: str) -> None:
    for step in plan(backend, name):
        assert "USE TEMP B-TREE" not in step or name in SORTED
        scan = re.match(rf"SCAN (?!json_each|CONSTANT ROW|\(subquery|{STEPS})(.*)", step)
        assert scan is None or scan[1].startswith("jobs USING")


@pytest.mark.parametrize("name", sorted(SQL.keys() - BY_WAITING))
def test_workers_of_the_version_before_are_not_drawn_to_the_index_of_waiting_jobs(
    backend: SqliteBackend, name: str
) -> None:
    # Their statements are the present ones, with fewer indexes named.
    steps = plan_of(backend, re.sub(r"INDEXED BY \w+", "", SQL[name]))
    assert [step for step in steps if "INDEX waiting" in step] == []


@pytest.mark.parametrize("name", ["push_in_turn", "take_turn"])
def test_a_turn_is_found_by_the_tenants_own_jobs(backend: SqliteBackend, name: str) -> None:
    assert OWN_TURN in plan(backend, name)


def test_a_turn_costs_the_same_however_many_jobs_of_the_tenant_wait(
    backend: SqliteBackend, tmp_path: Path
) -> None:
    short = connect(f"sqlite:///{tmp_path}/short.db?synchronous=normal", SystemClock())
    message = partial(Message, queue="mail", task="send", tenant="a")
    for store, count in ((short, 100), (backend, 20_000)):
        store.push([message() for _ in range(count)])
    # Turn by turn, so that whatever else this machine does slows both alike.
    times = [
        (seconds_to_push(short, message()), seconds_to_push(backend, message())) for _ in range(80)
    ]
    few, many = (min(column) for column in zip(*times, strict=True))
    assert many < few * 1.5
    short.close()


def test_a_claim_costs_the_same_under_a_long_backlog(
    backend: SqliteBackend, tmp_path: Path
) -> None:
    short = connect(f"sqlite:///{tmp_path}/short.db?synchronous=normal", SystemClock())
    fill(short, 1_000)
    fill(backend, 200_000)
    # Turn by turn, so that whatever else this machine does slows both alike.
    times = [(seconds_to_claim(short), seconds_to_claim(backend)) for _ in range(80)]
    few, many = (min(column) for column in zip(*times, strict=True))
    assert many < few * 1.5
    short.close()


def test_a_task_to_skip_costs_nothing_however_many_of_its_jobs_wait(
    backend: SqliteBackend,
) -> None:
    fill(backend, 100_000)
    last = in_state(backend, State.PENDING, task="other")
    found = backend.poll("w", {"mail": 10}, lease=60, skip_tasks={"send"})
    assert [job.id for job in found] == [last]
    skip = partial(backend.poll, "w", {"mail": 10}, lease=60, skip_tasks={"send"})
    assert quickest(skip) < 0.01


def test_tasks_of_one_queue_are_claimed_in_one_order(backend: SqliteBackend) -> None:
    messages = [Message.of("mail", f"task {n % 7}", n, priority=n % 3, delay=0) for n in range(300)]
    backend.push(messages)
    found = [job.payload for size in (1, 4, 95, 500) for job in claims(backend, size)]
    assert found == sorted(range(300), key=lambda n: (-(n % 3), n))


def test_a_claimed_job_is_the_one_that_is_stored(backend: SqliteBackend) -> None:
    backend.push([Message.of("mail", "send", n, key=f"k{n}", meta={"n": str(n)}) for n in range(5)])
    for job in claims(backend):
        assert backend.get(job.id) == job


def test_three_pending_jobs_under_a_long_history_are_listed_at_once(
    backend: SqliteBackend,
) -> None:
    three = [in_state(backend, State.PENDING) for _ in range(3)]
    fill(backend, 100_000, state="completed")
    page = backend.list(Filter.parse("state:pending"))
    assert [job.id for job in page.jobs] == three[::-1]
    assert quickest(partial(backend.list, Filter.parse("state:pending"))) < 0.01


@pytest.mark.parametrize("text", ["queue:mail", "queue:mail state:pending"])
def test_ready_jobs_are_listed_at_once_however_many_scheduled_ones_of_another_queue_are_newer(
    backend: SqliteBackend, text: str
) -> None:
    fill(backend, 100_000)
    fill(backend, 60_000, queue="later", scheduled=1)
    page = backend.list(Filter.parse(text), limit=50)
    assert {job.queue for job in page.jobs} == {"mail"}
    assert quickest(partial(backend.list, Filter.parse(text), limit=50)) < 0.01


def test_lines_are_read_only_of_the_kind_of_pending_jobs_that_needs_them(
    backend: SqliteBackend,
) -> None:
    rare = in_state(backend, State.PENDING, delay=600)
    fill(backend, 100_000)
    fill(backend, 60_000, queue="later", scheduled=1)
    query = Filter.parse("queue:mail state:pending")
    page = backend.list(query, limit=50)
    assert {(job.queue, job.id == rare) for job in page.jobs} == {("mail", False)}
    assert quickest(partial(backend.list, query, limit=50)) < 0.01


@pytest.mark.parametrize("text", ["queue:mail", "-state:failed", "task:send state:pending"])
def test_a_page_that_the_newest_jobs_fill_asks_no_line(
    backend: SqliteBackend, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(backend, 1_000)
    query = Filter.parse(text)
    expected = backend.list(query, limit=50)
    monkeypatch.setattr("ferryman.backends.sqlite.named.newest", pytest.fail)
    assert backend.list(query, limit=50) == expected
    assert len(expected.jobs) == 50


def test_a_snapshot_costs_little_under_a_long_backlog(backend: SqliteBackend) -> None:
    fill(backend, 100_000)
    backend.push([Message.of("mail", "send", n, tenant=f"t{n % 50}") for n in range(5_000)])
    assert (backend.snapshot().queues["mail"].oldest_ready or 0.0) >= 1.0
    assert quickest(backend.snapshot) < 0.01


def plan(backend: SqliteBackend, name: str) -> list[str]:
    return plan_of(backend, SQL[name])


def plan_of(backend: SqliteBackend, statement: str) -> list[str]:
    empty = {"{narrow}": "TRUE", "{where}": "TRUE", "{lists}": "SELECT 1 AS seq"}
    for place, text in empty.items():
        statement = statement.replace(place, text)
    numbers = [int(number) for number in re.findall(r"\?(\d+)", statement)]
    values: Any = [0] * max(numbers, default=statement.count("?")) or dict.fromkeys(
        re.findall(r":(\w+)", statement), "[]"
    )
    with backend._database.reading() as connection:
        rows = connection.execute(f"EXPLAIN QUERY PLAN {statement}", values).fetchall()
    return [row[3] for row in rows]


def fill(
    backend: SqliteBackend,
    count: int,
    *,
    state: str = "pending",
    queue: str = "mail",
    scheduled: int = 0,
) -> None:
    """Jobs by the thousand, without the cost of a message each."""
    now = time.time()
    rest = (scheduled, "", "", "", "", -1, -1)
    rows = [
        (new_id(), queue, "send", 1, 0, 5, "null", now, now - 1 + n * 1e-6, *rest)
        for n in range(count)
    ]
    with backend._database.writing() as connection:
        connection.executemany(SQL["push"].replace("'pending'", f"'{state}'"), rows)
        connection.execute(SQL["count"], (queue, state, count))
        connection.execute(SQL["count"], (queue, SCHEDULED, count * scheduled))


def quickest(act: Callable[[], object]) -> float:
    """The shortest of a few runs, in seconds: what the work takes, whatever else runs here."""
    times = []
    for _ in range(7):
        before = time.perf_counter()
        act()
        times.append(time.perf_counter() - before)
    return min(times)


def seconds_to_push(backend: SqliteBackend, message: Message) -> float:
    before = time.perf_counter()
    backend.push([message])
    return time.perf_counter() - before


def seconds_to_claim(backend: SqliteBackend) -> float:
    before = time.perf_counter()
    assert len(claims(backend, 10)) == 10
    return time.perf_counter() - before


@pytest.mark.parametrize(
    "text", ["state:completed finished:<1d", "state:failed queue:mail age:>1h"]
)
def test_a_page_follows_the_push_order_and_sorts_nothing(backend: SqliteBackend, text: str) -> None:
    clause, values = where(Filter.parse(text), 0.0, DIALECT)
    statement = SQL["list"].replace("{where}", clause).replace("{narrow}", "TRUE")
    with backend._database.reading() as connection:
        rows = connection.execute(f"EXPLAIN QUERY PLAN {statement}", [*values, 1, 1, 1]).fetchall()
    assert [row[3] for row in rows] == [
        "SEARCH jobs USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"
    ]
