"""What Prometheus reads: of the store at every scrape, of a worker from its events."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from prometheus_client.parser import text_string_to_metric_families

from ferryman import BackendUnavailable, Cancel, Fail, Ferry, LeaseLost, Retry, Settings, State
from ferryman.queue.traced import Traced
from ferryman.telemetry.metrics import MOST_TASKS, OTHER, SHARED_DIR
from ferryman.testing import FakeClock, wait_until
from ferryman.web.exposition import Exposition
from ferryman.worker.upkeep import WORKER_CELLS
from tests.telemetry.scrape import Scraped
from tests.worker.faults import Line, as_backend

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ODD = 'it\'s "odd"\\ {} ⛴ ,=\u202e'


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["memory", "sqlite"])
def ferry(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ferry]:
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/jobs.db"
    with Ferry(url, lease=2.0) as ferry:
        yield ferry


def scrape(ferry: Ferry) -> Scraped:
    return Scraped(Exposition(ferry.backend).text())


def test_the_store_is_counted_by_queue_and_state(tmp_path: Path, clock: FakeClock) -> None:
    with Ferry("memory://", clock=clock) as ferry:
        ferry.push("mail")
        clock.advance(90)
        ferry.push("mail", delay=60)
        ferry.push("later", delay=60)
        ferry.backend.pause_queue("later")
        seen = scrape(ferry)
    assert seen["ferryman_jobs", "mail", "pending"] == 2
    assert seen["ferryman_jobs", "mail", "failed"] == 0
    assert seen["ferryman_jobs_ready", "mail"] == 1
    assert seen["ferryman_queue_oldest_ready_seconds", "mail"] == 90
    assert seen["ferryman_queue_oldest_ready_seconds", "later"] == 0
    assert (seen["ferryman_queue_paused", "mail"], seen["ferryman_queue_paused", "later"]) == (0, 1)
    assert seen["ferryman_store_up",] == 1
    assert seen["ferryman_queue_slots", "mail"] == 0


def test_every_end_of_a_job_is_counted(ferry: Ferry) -> None:
    @ferry.task(queue="ends", retry=Retry(2, base=0.01))
    def end(how: str) -> None:
        match how:
            case "fail":
                raise Fail("no")
            case "cancel":
                raise Cancel("no more")
            case "retry":
                raise ValueError("boom")

    shown = Exposition(ferry.backend, ferry.events)
    end.push_many(["well"] * 4 + ["fail"] * 3 + ["cancel"] * 2 + ["retry"])
    worker = ferry.worker({"ends": 2}, Settings(lease=2.0))
    worker.start()
    ended = {State.COMPLETED: 4, State.FAILED: 4, State.CANCELLED: 2}
    wait_until(lambda: {s: ferry.backend.snapshot().count(s) for s in ended} == ended)
    wait_until(lambda: Scraped(shown.text())["ferryman_queue_slots", "ends"] == 2)
    working = Scraped(shown.text())
    worker.join()
    # An end is told after the store has it.
    seen = Scraped(shown.text())
    of_task = ("ends", "end")
    assert seen["ferryman_jobs_pushed_total", *of_task] == 10
    finished = {s: seen["ferryman_jobs_finished_total", *of_task, str(s)] for s in ended}
    assert finished == ended
    assert seen["ferryman_failures_total", *of_task] == 5
    assert seen["ferryman_retries_total", *of_task] == 1
    assert seen["ferryman_job_run_seconds_count", *of_task] == 11
    assert seen["ferryman_job_wait_seconds_count", "ends"] == 11
    assert working["ferryman_workers", "live"] == 1
    assert working["ferryman_worker_slots", "busy"] + working["ferryman_worker_slots", "free"] == 2


def test_each_worker_says_how_it_stands_to_its_store() -> None:
    with Ferry("memory://") as ferry:
        seen = ferry.backend.clock.now()
        rows: dict[str, dict[str, object]] = {
            "told": {"skew": -3.5, "hears": True},
            "deaf": {"skew": 0.25, "hears": False},
            "of another version": {},
            "gone": {"skew": 9.0, "hears": True, "heartbeat_at": 0},
        }
        for name, facts in rows.items():
            row = json.dumps({"heartbeat_at": seen, "lease": 60, **facts})
            ferry.backend.write_cell(WORKER_CELLS + name, row, expect=0)
        shown = scrape(ferry)
    assert shown.named("ferryman_clock_skew_seconds") == {("told",): -3.5, ("deaf",): 0.25}
    assert shown.named("ferryman_listener_connected") == {("told",): 1, ("deaf",): 0}


def test_a_worker_finds_out_how_far_its_clock_is_off() -> None:
    with Ferry("memory://", clock=FakeClock(time.time() + 3_600)) as ferry:
        worker = ferry.worker({"mail": 1}, Settings())
        worker.start()
        name = "ferryman_clock_skew_seconds"
        wait_until(lambda: scrape(ferry).named(name), what="the worker's row")
        seen = scrape(ferry)
        worker.join()
    assert 3_500 < seen[name, worker.id] <= 3_600
    assert seen.named("ferryman_listener_connected") == {}


def test_a_loop_of_the_users_own_is_counted_too(ferry: Ferry) -> None:
    shown = Exposition(ferry.backend, ferry.events)
    queue = ferry.queue("mail")
    queue.push()
    [job] = queue.poll()
    queue.ack(job)
    seen = Scraped(shown.text())
    assert seen["ferryman_jobs_finished_total", "mail", "mail", "completed"] == 1
    assert seen["ferryman_job_wait_seconds_count", "mail"] == 1


def test_a_stale_end_and_a_reaped_lease_are_counted(tmp_path: Path, clock: FakeClock) -> None:
    with Ferry("memory://", clock=clock) as ferry:
        shown = Exposition(ferry.backend, ferry.events)
        queue = ferry.queue("mail")
        queue.push()
        [job] = queue.poll()
        clock.advance(100)
        worker = ferry.worker({"other": 1}, Settings())
        worker._upkeep.reap()
        with pytest.raises(LeaseLost):
            queue.ack(job)
        seen = Scraped(shown.text())
    assert seen["ferryman_reaped_total", "mail"] == 1
    assert seen["ferryman_stale_ack_rejected_total", "mail"] == 1
    assert seen["ferryman_lease_lost_total", "mail"] == 1


def test_breakers_show_their_state(ferry: Ferry) -> None:
    shown = Exposition(ferry.backend, ferry.events)
    breaker = ferry.breaker("gemini", threshold=1)
    with pytest.raises(ConnectionError), breaker:
        raise ConnectionError("down")
    seen = Scraped(shown.text())
    states = {s: seen["ferryman_breaker_state", "gemini", s] for s in ("closed", "open")}
    assert states == {"closed": 0, "open": 1}
    assert seen["ferryman_breaker_opened_total", "gemini"] == 1


def test_a_store_that_is_out_never_looks_empty(ferry: Ferry) -> None:
    ferry.push("mail")
    line = Line(ferry.backend)
    traced = Traced(as_backend(line), ferry.events)
    shown = Exposition(traced, ferry.events)
    line.down = True
    with pytest.raises(BackendUnavailable):
        traced.poll("w", {"mail": 1}, lease=60)
    seen = Scraped(shown.text())
    assert seen["ferryman_store_up",] == 0
    assert not seen.named("ferryman_jobs")
    assert seen["ferryman_backend_errors_total", "poll", "BackendUnavailable"] == 1


def test_many_scrapes_cost_one_look_a_second(ferry: Ferry) -> None:
    line = Line(ferry.backend)
    shown = Exposition(as_backend(line))
    for _ in range(20):
        shown.text()
    assert line.calls["snapshot"] <= 2


def test_names_beyond_the_most_are_added_up(ferry: Ferry) -> None:
    shown = Exposition(ferry.backend, ferry.events)
    for number in range(MOST_TASKS + 50):
        ferry.push(f"task {number}", queue=f"queue {number}")
    seen = Scraped(shown.text())
    assert seen["ferryman_jobs_pushed_total", OTHER, OTHER] == 50
    assert sum(seen.named("ferryman_jobs_pushed_total").values()) == MOST_TASKS + 50
    ready = seen.named("ferryman_jobs_ready")
    assert sum(ready.values()) == MOST_TASKS + 50
    assert len(ready) <= 101


def test_odd_names_are_escaped_and_read_back(ferry: Ferry) -> None:
    shown = Exposition(ferry.backend, ferry.events)
    ferry.push(ODD, queue=ODD)
    seen = Scraped(shown.text())
    assert seen["ferryman_jobs_pushed_total", ODD, ODD] == 1
    assert seen["ferryman_jobs", ODD, "pending"] == 1


def test_no_label_holds_a_job_a_tenant_or_the_text_of_an_error(ferry: Ferry) -> None:
    @ferry.task(queue="mail")
    def break_down() -> None:
        raise Fail("canary-error")

    shown = Exposition(ferry.backend, ferry.events)
    handle = break_down.using(tenant="canary-tenant", id="canary-id").push()
    worker = ferry.worker({"mail": 1}, Settings(lease=2.0))
    worker.start()
    handle.wait(10)
    worker.join()
    assert b"canary" not in shown.text()


def test_names_and_units_follow_the_conventions(ferry: Ferry) -> None:
    text = Exposition(ferry.backend, ferry.events).text().decode()
    families = list(text_string_to_metric_families(text))
    kinds = Counter(family.type for family in families)
    assert kinds.keys() == {"counter", "gauge", "histogram"}
    for family in families:
        assert family.name.startswith("ferryman_")
        assert family.documentation.endswith(".")
        assert "_milli" not in family.name
        assert (family.type == "histogram") <= family.name.endswith("_seconds")


COUNTING = """
import os, sys
from ferryman import Ferry, Settings
from ferryman.telemetry.metrics import count
from ferryman.web.exposition import Exposition

ferry = Ferry(sys.argv[1])

@ferry.task(queue="shared")
def do(n: int) -> None: ...

count(ferry.events)
do.push_many(range(5))
print(ferry.run_batch(5)["processed"], flush=True)
if sys.argv[2] == "die":
    os.kill(os.getpid(), 9)
sys.stdout.write(Exposition(ferry.backend).text().decode())
"""


def test_processes_that_count_together_are_one_scrape_also_when_one_is_killed(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "metrics"
    folder.mkdir()

    def run(end: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", COUNTING, f"sqlite:///{tmp_path}/jobs.db", end],
            env={**os.environ, SHARED_DIR: str(folder)},
            capture_output=True,
            text=True,
            check=False,
        ).stdout

    assert run("die") == "5\n"
    first, _, text = run("live").partition("\n")
    seen = Scraped(text.encode())
    assert first == "5"
    assert seen["ferryman_jobs_finished_total", "shared", "do", "completed"] == 10
    assert seen["ferryman_job_run_seconds_count", "shared", "do"] == 10
    assert seen["ferryman_jobs", "shared", "completed"] == 10
