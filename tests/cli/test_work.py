from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from ferryman import Ferry, Retry, State
from ferryman.testing import wait_until
from tests.servers.postgres_relay import Relay

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command, Run

SHORT = ("--poll-every", "50ms", "--lease", "5s")


def push(store: Ferry, task: str, payload: Any, queue: str) -> str:
    return store.push(task, payload, queue=queue, retry=Retry(1)).id


def ended(store: Ferry, job_id: str) -> State:
    def terminal() -> State | None:
        job = store.backend.get(job_id)
        return job.state if job is not None and job.state.terminal else None

    state = wait_until(terminal, timeout=30, what="the end of the job")
    assert state is not None
    return state


def test_it_runs_jobs_of_the_app_in_this_folder_and_ends_with_0_on_sigterm(
    command: Command, store: Ferry
) -> None:
    good = push(store, "send", {"to": "ann", "password": "geheim"}, "mail")
    bad = push(store, "explode", "\x1b[31mred\nforged line", "bad")
    worker = command("work", "app:ferry", *SHORT)
    assert ended(store, good) is State.COMPLETED
    assert ended(store, bad) is State.FAILED
    worker.terminate()
    data, talk = worker.communicate(timeout=30)
    assert worker.returncode == 0, talk
    assert data == ""
    assert "worker started" in talk
    assert "queues=bad:1,mail:1,slow:1" in talk
    assert f"job completed job_id={good}" in talk
    assert f"job failed job_id={bad}" in talk
    assert 'error="ValueError: \\x1b[31mred\\nforged line"' in talk
    assert "worker stopped" in talk
    assert "geheim" not in talk


def test_a_store_that_is_down_at_the_start_is_waited_for(
    command: Command, postgres_url: str
) -> None:
    relay = Relay(postgres_url)
    relay.cut()
    port = urlsplit(postgres_url).port
    worker = command(
        "work", "app:ferry", *SHORT, "--url", postgres_url.replace(f":{port}/", f":{relay.port}/")
    )
    assert worker.stderr is not None
    assert "the store does not answer yet" in worker.stderr.readline()
    relay.mend()
    with Ferry(postgres_url) as store:
        job_id = push(store, "send", {"to": "ann", "password": "geheim"}, "mail")
        assert ended(store, job_id) is State.COMPLETED
    worker.terminate()
    assert worker.wait(30) == 0
    relay.close()


def test_its_log_can_be_json_and_its_level_chosen(command: Command, store: Ferry) -> None:
    job_id = push(store, "send", {"to": "a", "password": "b"}, "mail")
    worker = command("work", "app:ferry", *SHORT, "--log-format", "json", "--log-level", "debug")
    ended(store, job_id)
    worker.send_signal(signal.SIGINT)
    _, talk = worker.communicate(timeout=30)
    assert worker.returncode == 0
    lines = [json.loads(line) for line in talk.splitlines()]
    by_event = {line["event"]: line for line in lines}
    assert by_event["job.started"]["level"] == "debug"
    assert by_event["job.completed"]["job_id"] == job_id
    assert by_event["job.completed"]["attempt"] == 1
    assert by_event["worker.started"]["queues"] == {"bad": 1, "mail": 1, "slow": 1}


def test_only_the_named_queues_are_worked_on(command: Command, store: Ferry) -> None:
    left = push(store, "explode", "x", "bad")
    done = push(store, "send", {"to": "a", "password": "b"}, "mail")
    worker = command("work", "app:ferry", *SHORT, "--queues", "mail:2,mial")
    ended(store, done)
    worker.terminate()
    _, talk = worker.communicate(timeout=30)
    assert "queues=mail:2,mial:1" in talk
    assert "no task of the app belongs to queue 'mial': did you mean 'mail'?" in talk
    assert store.backend.get(left).state is State.PENDING  # type: ignore[union-attr]


def test_the_second_signal_gives_running_jobs_back_at_once(
    command: Command, store: Ferry, home: Path
) -> None:
    job_id = push(store, "hold", str(home / "running"), "slow")
    worker = command("work", "app:ferry", *SHORT, "--drain", "10m")
    wait_until((home / "running").exists, timeout=30, what="the handler")
    worker.terminate()
    assert worker.stderr is not None
    for line in worker.stderr:
        if "worker is draining" in line:
            break
    worker.terminate()
    worker.communicate(timeout=30)
    assert worker.returncode == 0
    job = store.backend.get(job_id)
    assert job is not None
    assert (job.state, job.attempts, job.given_back) == (State.PENDING, 0, 1)


def test_the_flag_goes_before_the_apps_own_store(command: Command, home: Path) -> None:
    with Ferry("sqlite:///other.db") as other:
        job_id = push(other, "send", {"to": "a", "password": "b"}, "mail")
        worker = command("work", "app:ferry", *SHORT, "--url", "sqlite:///other.db")
        assert ended(other, job_id) is State.COMPLETED
        worker.terminate()
        worker.communicate(timeout=30)
    assert not (home / "ferryman.db").exists()


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["app:ferry", "--lease", "0"], "--lease"),
        (["app:ferry", "--queues", "mail:x"], "--queues"),
        (["app:ferry", "--concurrency", "none"], "--concurrency"),
        (["app:ferry", "--drain", "x"], "--drain"),
        (["app:ferry", "--poll-every", "0"], "--poll-every"),
        (["app:ferry", "--log-level", "loud"], "--log-level"),
        (["app:ferry", "--log-format", "xml"], "--log-format"),
        ([], "MODULE:ATTRIBUTE"),
    ],
)
def test_settings_that_cannot_be_read_are_exit_code_2(
    run: Run, words: list[str], what: str
) -> None:
    assert what in run("work", *words, code=2).output


def test_an_app_without_tasks_has_nothing_to_run(command: Command, home: Path) -> None:
    (home / "bare.py").write_text("from ferryman import Ferry\nferry = Ferry()\n")
    process = command("work", "bare:ferry")
    assert "has no tasks" in process.communicate(timeout=30)[1]
    assert process.returncode == 2


def test_a_store_that_refuses_for_good_is_exit_code_5(command: Command, home: Path) -> None:
    (home / "notes.db").write_text("not a database, " * 100)
    process = command("work", "app:ferry", "--url", "sqlite:///notes.db")
    _, talk = process.communicate(timeout=30)
    assert process.returncode == 5, talk
    assert "notes.db" in talk
