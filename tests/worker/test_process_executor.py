"""`executor="process"`: the same meaning as in a thread, and what only a process can do."""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ferryman import Ferry, Job, Retry, Settings, State, TaskError, Tasks, Worker
from ferryman.queue.settlement import Settlement
from ferryman.testing import wait_until
from tests.worker import process_app
from tests.worker.faults import Line, as_backend
from tests.worker.pids import alive, pids

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman import Handle


@pytest.fixture
def url() -> str:
    """Where jobs are kept makes no difference to where they run."""
    return "memory://"


@pytest.fixture(autouse=True)
def declared(ferry: Ferry) -> None:
    for task in process_app.tasks:
        ferry.tasks.add(task)


def push(ferry: Ferry, task: str, payload: Any = None, **options: Any) -> Handle[Any]:
    return ferry.push(task, payload, **options)


def resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def result(ferry: Ferry, task: str, payload: Any = None) -> Any:
    return push(ferry, task, payload).result(20)


# -- the same meaning


WORDS = [
    f"{verb} {name}"
    for verb in ("return", "raise")
    for name in ("snooze", "retry", "fail", "cancel")
]
WORDS += ["return " + name for name in ("model", "object", "none", "text", "plain")]
WORDS += ["raise " + name for name in ("value", "key", "exit")]


def facts(job: Job) -> dict[str, Any]:
    """What does not depend on time or place."""
    return {
        "state": job.state,
        "attempts": job.attempts,
        "given_back": job.given_back,
        "result": job.result,
        "percent": job.percent,
        "note": job.note,
        "logs": [line.text for line in job.logs],
        "errors": [(e.attempt, e.worker, e.kind, e.text, e.traceback) for e in job.errors],
        "waits": 45 < job.ready_at - (job.started_at or 0) < 80,
    }


def test_whatever_a_handler_says_means_the_same_as_in_a_thread(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    def said(task: str) -> list[Handle[Any]]:
        payloads = ({"word": word, "model": {"name": "n"}} for word in WORDS)
        return [push(ferry, task, payload, meta={"user": "7"}) for payload in payloads]

    def settled(handle: Handle[Any]) -> Job | None:
        job = handle.job()
        return job if job.state is not State.PROCESSING and job.fence else None

    in_process, in_thread = said("speak_in_process"), said("speak_in_thread")
    work(3)
    for word, one, other in zip(WORDS, in_process, in_thread, strict=True):
        expected = wait_until(lambda handle=other: settled(handle), 20, word)  # type: ignore[misc]
        got = wait_until(lambda handle=one: settled(handle), 20, word)  # type: ignore[misc]
        assert got is not None
        assert expected is not None
        assert facts(got) == facts(expected), word
        assert got.percent == 40


def test_every_field_of_a_settlement_comes_from_the_child_or_from_the_claim() -> None:
    from_claim = {"job_id", "fence", "worker", "queue"}
    from_child = {"verdict", "result", "error", "delay", "percent", "note", "logs"}
    not_yet = {"children"}
    assert {field.name for field in fields(Settlement)} == from_claim | from_child | not_yet


def test_handlers_run_in_the_main_thread_of_a_child_that_is_kept_warm(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    work()
    places = [result(ferry, "where_am_i") for _ in range(3)]
    assert places[0]["main_thread"]
    assert len({place["pid"] for place in places}) == 1
    assert places[0]["pid"] != os.getpid()


def test_progress_arrives_in_order_however_often_it_is_reported(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    work()
    job = push(ferry, "chatter", 20_000).wait(20)
    assert (job.note, [line.text for line in job.logs]) == ("19999", ["done"])


@pytest.mark.parametrize("act", ["cancel", "pause"])
def test_a_stop_that_was_asked_reaches_the_next_safe_point(
    ferry: Ferry, work: Callable[..., Worker], tmp_path: Path, act: str
) -> None:
    work()
    handle = push(ferry, "walk", str(tmp_path / "walking"))
    (pid,) = pids(tmp_path / "walking")
    getattr(ferry.backend, act)([handle.id])
    ended = State.CANCELLED if act == "cancel" else State.PAUSED
    wait_until(lambda: handle.status() is ended, what=ended)
    job = handle.job()
    assert (job.attempts, job.errors, job.stored_checkpoint) == (0, (), '{"page":7}')
    assert result(ferry, "where_am_i")["pid"] == pid


def test_a_paused_job_resumes_from_the_checkpoint_that_it_saved_when_told(
    ferry: Ferry, work: Callable[..., Worker], tmp_path: Path
) -> None:
    work()
    handle = push(ferry, "resume", str(tmp_path / "running"))
    pids(tmp_path / "running")
    ferry.backend.pause([handle.id])
    wait_until(lambda: handle.status() is State.PAUSED, what="paused")
    assert [line.text for line in handle.job().logs] == ["stops"]
    ferry.backend.resume([handle.id])
    assert handle.result(20) == "resumed at 5"


def test_a_lost_lease_is_told_and_checkpoint_raises_it(
    ferry: Ferry, work: Callable[..., Worker], tmp_path: Path
) -> None:
    from tests.worker.test_leases import steal

    running, lost = tmp_path / "running", tmp_path / "running.lost"
    events: list[object] = []
    ferry.on("job.lost")(events.append)
    work(reap_every=60)
    handle = push(ferry, "resume", str(running))
    pids(running)
    ferry.backend.pause_queue("default")
    steal(ferry, handle.id)
    wait_until(lost.exists, what="LeaseLost in the handler")
    wait_until(lambda: events, what="job.lost")
    job = handle.job()
    assert (job.state, job.stored_checkpoint, job.attempts) == (State.PENDING, None, 1)


def test_an_outage_is_raised_by_checkpoint_as_in_a_thread(ferry: Ferry, tmp_path: Path) -> None:
    line = Line(ferry.backend)
    settings = Settings(lease=30, drain=1)
    worker = Worker(
        as_backend(line), ferry.tasks, {"default": 1}, events=ferry.events, settings=settings
    )
    worker.start()
    try:
        go = tmp_path / "go"
        handle = push(ferry, "save", str(go))
        pids(Path(f"{go}.pid"))
        line.down = True
        go.touch()
        wait_until(Path(f"{go}.refused").exists, what="the refusal")
        line.down = False
        assert handle.result(20) == "BackendUnavailable: heartbeat: the line is cut"
    finally:
        worker.join()


# -- crashes


CRASHES = {
    "kill": "its process was killed by SIGKILL (signal 9)",
    "exit": "its process ended with exit code 3",
    "orphan": "its process was killed by SIGABRT (signal 6)",
}


def test_a_crash_is_charged_to_its_job_with_the_signal_or_the_exit_code(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    handles = [push(ferry, "die", how, retry=Retry(1)) for how in CRASHES]
    work(2)
    jobs = [handle.wait(20) for handle in handles]
    assert [(job.state, job.attempts) for job in jobs] == [(State.FAILED, 1)] * 3
    assert [(job.errors[0].kind, job.error) for job in jobs] == [
        ("crash", text) for text in CRASHES.values()
    ]


def test_leaks_and_crashes_leave_the_worker_and_other_jobs_untouched(
    ferry: Ferry, work: Callable[..., Worker], tmp_path: Path
) -> None:
    go = tmp_path / "go"
    held = push(ferry, "hold", str(go))
    work(2)
    (holder,) = pids(Path(f"{go}.pid"))
    before = resident_mib()
    leaks = [push(ferry, "leak", 30) for _ in range(12)]
    poison = push(ferry, "die", "segfault")
    leakers = [handle.result(20) for handle in leaks]
    killed = poison.wait(20)
    assert (killed.state, killed.attempts) == (State.FAILED, 2)
    assert [error.text for error in killed.errors] == [
        "its process was killed by SIGSEGV (signal 11)"
    ] * 2
    assert resident_mib() - before < 25
    assert len(set(leakers)) >= 3
    assert all(leakers.count(pid) <= 5 for pid in leakers)
    go.touch()
    job = held.wait(20)
    assert (job.result, job.attempts, job.fence) == ('"claim 1"', 1, 1)
    assert alive(holder)


def test_a_child_that_dies_while_it_is_idle_costs_no_job_anything(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    work()
    first = result(ferry, "where_am_i")["pid"]
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: not alive(first), what="its end")
    job = push(ferry, "where_am_i").wait(20)
    assert (job.state, job.attempts) == (State.COMPLETED, 1)


def test_a_job_for_which_no_child_can_be_started_is_given_back(
    ferry: Ferry, work: Callable[..., Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    work()
    handle = push(ferry, "where_am_i")
    job = wait_until(lambda: (j := handle.job()).given_back and j, what="the give-back")
    assert isinstance(job, Job)
    assert (job.state, job.attempts) == (State.PENDING, 0)
    assert "no child process could be started" in (job.error or "")


# -- replacement


def test_a_child_is_replaced_after_so_many_jobs(ferry: Ferry, work: Callable[..., Worker]) -> None:
    ended: list[dict[str, Any]] = []
    ferry.on("process.ended")(lambda event: ended.append(dict(event.facts)))
    work()
    ran = [result(ferry, "twice_only") for _ in range(4)]
    assert ran[0] == ran[1] != ran[2] == ran[3]
    wait_until(lambda: [one["pid"] for one in ended] == [ran[0], ran[2]], what="both to end")
    assert {one["why"] for one in ended} == {"recycled"}
    assert not alive(ran[0])


def test_a_timeout_kills_the_child_and_what_it_started(
    ferry: Ferry, work: Callable[..., Worker], tmp_path: Path
) -> None:
    work()
    handle = push(ferry, "hang", str(tmp_path / "hanging"))
    hanging = pids(tmp_path / "hanging")
    job = handle.wait(20)
    assert (job.state, job.attempts, job.errors[0].kind) == (State.FAILED, 1, "timeout")
    assert job.error == "ran longer than its timeout of 0.2 s"
    wait_until(lambda: not any(map(alive, hanging)), what="the end of both processes")
    assert result(ferry, "where_am_i")["pid"] not in hanging


# -- leases, signals, draining


def test_a_child_that_holds_its_gil_for_three_leases_keeps_its_lease(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:
    work(2, lease=0.6, reap_every=0.05)
    job = push(ferry, "hoard_gil", {"seconds": 1.8}).wait(20)
    assert (job.result, job.fence, job.attempts, job.errors) == ('"awake"', 1, 1, ())


def test_signals_for_all_processes_are_for_the_worker_to_decide(
    ferry: Ferry, work: Callable[..., Worker], tmp_path: Path
) -> None:
    work()
    go = tmp_path / "go"
    handle = push(ferry, "hold", str(go))
    (pid,) = pids(Path(f"{go}.pid"))
    os.kill(pid, signal.SIGINT)
    os.kill(pid, signal.SIGTERM)
    go.touch()
    assert handle.result(20) == "claim 1"
    assert os.getpgid(pid) == pid
    assert result(ferry, "start_a_program") == -signal.SIGTERM


def test_a_drain_waits_for_children_and_ends_them(ferry: Ferry, tmp_path: Path) -> None:
    go = tmp_path / "go"
    handle = push(ferry, "hold", str(go))
    worker = ferry.worker({"default": 1}, Settings(lease=5, drain=20))
    ferry.on("worker.draining")(lambda _: go.touch())
    worker.start()
    (pid,) = pids(Path(f"{go}.pid"))
    worker.join()
    assert handle.status() is State.COMPLETED
    assert not alive(pid)


def test_a_drain_kills_what_does_not_end_in_time_and_charges_nothing(
    ferry: Ferry, tmp_path: Path
) -> None:
    never = tmp_path / "never"
    handle = push(ferry, "hold", str(never))
    worker = ferry.worker({"default": 1}, Settings(lease=30, drain=0.3))
    worker.start()
    (pid,) = pids(Path(f"{never}.pid"))
    asked = time.monotonic()
    worker.join()
    assert time.monotonic() - asked < 3
    job = handle.job()
    assert (job.state, job.attempts, job.errors) == (State.PENDING, 0, ())
    wait_until(lambda: not alive(pid), what="the child's end")


# -- declaration


def test_a_task_that_no_child_could_find_is_refused_when_it_is_declared() -> None:
    def nested() -> None: ...

    async def asynchronous() -> None: ...

    tasks = Tasks()
    with pytest.raises(TaskError, match="at the top of a module"):
        tasks.task(executor="process")(nested)
    with pytest.raises(TaskError, match="async def runs on the event loop"):
        tasks.task(executor="process")(asynchronous)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"executor": "fork"}, "use 'thread' or 'process'"),
        ({"recycle_after": 10}, "recycle_after is for executor='process'"),
        ({"max_memory_mib": 10}, "max_memory_mib is for executor='process'"),
        ({"executor": "process", "recycle_after": 0}, "must be 1 or more, got 0"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(TaskError, match=problem):
        Tasks().task(**options)


def test_inline_drains_run_it_here(ferry: Ferry) -> None:
    from ferryman.testing import drain

    handle = push(ferry, "where_am_i", retry=Retry(1))
    drain(ferry)
    assert handle.result(0)["pid"] == os.getpid()
