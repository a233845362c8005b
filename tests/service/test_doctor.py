"""Each finding has a real cause here."""

from __future__ import annotations

import json
import sqlite3
import time
from typing import TYPE_CHECKING, Any, cast

import pytest

from ferryman import Fail, Ferry
from ferryman.queue.diagnosis import Finding, Severity
from ferryman.service.checks import history
from ferryman.service.doctor import examine, examine_url
from ferryman.testing import FakeClock, drain, wait_until
from ferryman.worker.upkeep import WORKER_CELLS
from tests.service.faults import without_cells

if TYPE_CHECKING:
    from pathlib import Path

    from ferryman.queue.contract import Backend

OK, WARNING, PROBLEM = Severity


def findings(ferry: Ferry, *, deep: bool = False) -> dict[str, Finding]:
    found = examine(ferry.backend, deep=deep)
    assert all(bool(one.fix) is (one.severity is not OK) for one in found), "a fix for each fault"
    return {one.check: one for one in found}


def show_worker(ferry: Ferry, name: str, *queues: str, seen: float | None = None) -> None:
    """A row as a worker writes it about itself."""
    row = {
        "heartbeat_at": ferry.backend.clock.now() if seen is None else seen,
        "lease": 60.0,
        "queues": dict.fromkeys(queues, 2),
        "running": 1,
    }
    ferry.backend.write_cell(f"{WORKER_CELLS}{name}", json.dumps(row), expect=None, ttl=600)


def fail_a_job(ferry: Ferry, text: str) -> None:
    if ferry.tasks.get("explode") is None:

        @ferry.task(name="explode", queue="mail")
        def explode(text: str) -> None:
            raise Fail(text)

    ferry.push("explode", text)
    drain(ferry)


# -- all is well


def test_a_store_with_a_worker_and_nothing_to_complain_about_is_well(tmp_path: Path) -> None:
    with Ferry(f"sqlite:///{tmp_path}/jobs.db") as ferry:

        @ferry.task(queue="mail")
        def send() -> None: ...

        worker = ferry.worker({"mail": 2})
        worker.start()
        try:
            handle = send.push()
            assert handle.result(20) is None
            wait_until(lambda: ferry.backend.read_cells(WORKER_CELLS), what="the worker's row")
            found = findings(ferry, deep=True)
        finally:
            worker.join()
    assert {name for name, one in found.items() if one.severity is not OK} <= {"library"}
    assert found["workers"].what == "1 worker alive, 0 of 2 slots busy"
    assert found["queues"].what == "every queue with ready jobs has a worker"
    assert found["history"].what == "1 finished job, none over 8 days old"


def test_an_empty_store_has_no_problem_and_keeps_nothing_of_the_examination(ferry: Ferry) -> None:
    found = findings(ferry)
    assert found["workers"].what == "none runs, and nothing waits"
    assert found["round trip"].severity is OK
    assert list(ferry.backend.read_cells("")) == []
    assert not ferry.backend.snapshot().queues


def test_a_store_without_cells_is_not_asked_for_them(ferry: Ferry) -> None:
    found = {one.check for one in examine(without_cells(ferry.backend))}
    assert found.isdisjoint({"round trip", "workers", "stale workers", "queues"})
    assert "leases" in found


# -- the store


@pytest.mark.parametrize(
    ("url", "what", "fix"),
    [
        ("sqlite:///{0}/none.db", "there is no store", "push a job"),
        ("sqlite:///{0}/none/jobs.db", "there is no store", "push a job"),
        ("sqlite:///{0}/notes.db", "is not an SQLite database", "the URL is right"),
        ("sqlite:///{0}/newer.db", "has schema version 99", "the URL is right"),
        ("mysql://ann:geheim@h/d", "names no backend", "the URL is right"),
        ("memory://", "lives inside one process", "the URL is right"),
    ],
)
def test_a_store_that_cannot_be_opened_is_a_finding(
    tmp_path: Path, url: str, what: str, fix: str
) -> None:
    (tmp_path / "notes.db").write_text("not a database, " * 100)
    Ferry(f"sqlite:///{tmp_path}/newer.db").backend.close()
    with sqlite3.connect(tmp_path / "newer.db") as newer:
        newer.execute("PRAGMA user_version = 99")
    newer.close()
    (found,) = examine_url(url.format(tmp_path))
    assert (found.check, found.severity) == ("store", PROBLEM)
    assert what in found.what
    assert fix in found.fix
    assert "geheim" not in found.what


def test_a_store_that_went_away_is_a_finding_and_its_probes_are_asked_all_the_same(
    tmp_path: Path,
) -> None:
    path = tmp_path / "jobs.db"
    with Ferry(f"sqlite:///{path}") as ferry:
        ferry.push("mail")
        path.rename(tmp_path / "moved.db")
        found = findings(ferry)
    assert found.keys() == {"store", "probes"}
    assert "was deleted or replaced" in found["store"].what


def test_a_store_that_takes_no_writes_is_a_problem_and_the_rest_is_still_examined(
    tmp_path: Path,
) -> None:
    with Ferry(f"sqlite:///{tmp_path}/jobs.db?busy_timeout=0") as ferry:
        ferry.push("mail")
        other = sqlite3.connect(tmp_path / "jobs.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        try:
            found = findings(ferry)
        finally:
            other.close()
    assert found["round trip"].severity is PROBLEM
    assert "is locked by another process" in found["round trip"].what
    assert found["workers"].what == "no worker runs, 1 job ready"


class Forgetful:
    """A store that confirms what it did not keep."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def read_cells(self, prefix: str) -> list[object]:
        return []

    def __getattr__(self, verb: str) -> Any:
        return getattr(self._backend, verb)


def test_a_store_that_forgets_what_it_confirmed_is_a_problem(ferry: Ferry) -> None:
    backend = cast("Backend", Forgetful(ferry.backend))
    found = {one.check: one for one in examine(backend)}
    assert found["round trip"].severity is PROBLEM
    assert "did not give it back" in found["round trip"].what


# -- the clock


@pytest.mark.parametrize(
    ("skew", "severity", "what"),
    [
        (0.0, OK, "agree"),
        (30.0, WARNING, "ahead of"),
        (-30.0, WARNING, "behind"),
        (7_300.0, PROBLEM, "2 h ahead of"),
    ],
)
def test_a_clock_that_differs_from_this_machines_is_told(
    skew: float, severity: Severity, what: str
) -> None:
    with Ferry("memory://", clock=FakeClock(time.time() + skew)) as ferry:
        found = findings(ferry)["clock"]
    assert found.severity is severity
    assert what in found.what


def test_a_clock_that_was_set_back_is_known_by_its_jobs(tmp_path: Path) -> None:
    clock = FakeClock(time.time() + 7_300)
    with Ferry(f"sqlite:///{tmp_path}/jobs.db", clock=clock) as ferry:
        ferry.push("mail")
        clock.step(-7_300)
        found = findings(ferry)["clock"]
    assert found.severity is PROBLEM
    assert "pushed 2 h in the future" in found.what


# -- work


def test_ready_jobs_without_a_worker_are_a_problem_and_scheduled_ones_a_warning(
    ferry: Ferry,
) -> None:
    ferry.push("mail", delay=60)
    found = findings(ferry)["workers"]
    assert (found.severity, found.what) == (WARNING, "no worker runs, 1 job scheduled")
    ferry.push("mail")
    ferry.push("mail")
    found = findings(ferry)["workers"]
    assert (found.severity, found.what) == (PROBLEM, "no worker runs, 2 jobs ready")
    assert "ferryman work" in found.fix


def test_jobs_of_a_paused_queue_need_no_worker_but_the_pause_is_told(ferry: Ferry) -> None:
    ferry.push("mail")
    ferry.backend.pause_queue("mail")
    ferry.backend.pause_queue("a b")
    found = findings(ferry)
    assert found["workers"].severity is OK
    assert found["paused queues"].severity is WARNING
    assert found["paused queues"].what == "'a b', 'mail' paused, 1 job ready"
    assert found["paused queues"].fix == "ferryman queues resume 'a b'"


def test_a_queue_that_no_worker_serves_is_a_problem(ferry: Ferry) -> None:
    show_worker(ferry, "w1", "mail")
    ferry.push("mail")
    assert findings(ferry)["queues"].severity is OK
    ferry.push("crawl")
    for number in range(6):
        ferry.push("x", queue=f"other-{number}")
    found = findings(ferry)
    assert found["workers"].what == "1 worker alive, 1 of 2 slots busy"
    assert found["queues"].severity is PROBLEM
    assert found["queues"].what.startswith("no worker serves 'crawl', 'other-0'")
    assert found["queues"].what.endswith("and 2 more, 7 jobs ready")
    assert "--queues crawl,other-0" in found["queues"].fix


def test_a_worker_that_fell_silent_is_told_and_does_not_count(
    ferry: Ferry, clock: FakeClock
) -> None:
    show_worker(ferry, "w1", "mail")
    ferry.push("mail")
    clock.advance(300)
    found = findings(ferry)
    assert found["stale workers"].severity is WARNING
    assert "'w1' last seen up to 5 min ago" in found["stale workers"].what
    assert found["workers"].severity is PROBLEM


def test_claims_past_their_lease_that_nobody_reaps_are_a_problem(
    ferry: Ferry, clock: FakeClock
) -> None:
    ferry.push("mail")
    ferry.push("mail")
    ferry.backend.poll("w1", {"mail": 2}, lease=10)
    clock.advance(20)
    assert findings(ferry)["leases"].what == "2 claims, none past its time"
    clock.advance(400)
    found = findings(ferry)["leases"]
    assert found.severity is PROBLEM
    assert found.what.startswith("2 claims up to 7 min past the lease")
    ferry.backend.reap()
    assert findings(ferry)["leases"].severity is OK


# -- history


def test_failures_of_the_last_day_are_told_with_their_most_frequent_reason(
    ferry: Ferry, clock: FakeClock
) -> None:
    for text in ("no answer from http://ann:geheim@h\nat line 2", "other"):
        fail_a_job(ferry, text)
    fail_a_job(ferry, "no answer from http://ann:geheim@h\nat line 3")
    found = findings(ferry)["failures"]
    assert found.severity is WARNING
    assert found.what == (
        "3 jobs failed in the last 24 h; 2 of them: 'explode': no answer from http://ann:***@h"
    )
    clock.advance(86_400)
    assert findings(ferry)["failures"].severity is OK


def test_history_that_nobody_prunes_is_told(
    ferry: Ferry, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_a_job(ferry, "x")
    clock.advance(8 * 86_400 - 60)
    assert findings(ferry)["history"].severity is OK
    clock.advance(120)
    found = findings(ferry)["history"]
    assert found.severity is WARNING
    assert "ferryman prune --older-than 7d" in found.fix
    monkeypatch.setattr(history, "MANY", 0)
    assert "--deep looks at their age" in findings(ferry)["history"].what
    assert findings(ferry, deep=True)["history"].severity is WARNING
