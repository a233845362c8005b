from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from ferryman import State
from ferryman.testing import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman import Ferry, Job
    from tests.cli.conftest import Command, Run


@pytest.fixture(autouse=True)
def _fresh_app() -> Iterator[None]:
    """`--app` imports app.py of the working directory, which every test has of its own."""
    path = sys.path[:]
    yield
    sys.modules.pop("app", None)
    sys.path[:] = path


def pushed(store: Ferry, job_id: str) -> Job:
    job = store.backend.get(job_id)
    assert job is not None
    return job


def test_it_prints_the_id_and_nothing_else_on_standard_output(run: Run, store: Ferry) -> None:
    result = run("push", "send", '{"to": "ann"}')
    job = pushed(store, result.stdout.strip())
    assert (job.task, job.queue, job.payload) == ("send", "send", {"to": "ann"})
    assert result.stderr == ""


def test_every_option_reaches_the_job(run: Run, store: Ferry) -> None:
    run(
        *("push", "send", "[1]", "--queue", "mail", "--priority", "high", "--delay", "1h"),
        *("--key", "k", "--id", "a", "--expires", "2h", "--max-attempts", "3"),
        *("--meta", "user=7", "--meta", "url=a=b"),
    )
    job = pushed(store, "a")
    assert (job.queue, job.priority, job.key, job.max_attempts) == ("mail", 10, "k", 3)
    assert job.meta == {"user": "7", "url": "a=b"}
    assert job.ready_at - job.created_at == pytest.approx(3_600)
    assert job.deadline is not None
    assert job.deadline - job.created_at == pytest.approx(7_200)


def test_a_priority_may_be_a_number(run: Run, store: Ferry) -> None:
    run("push", "send", "--priority", "-5", "--id", "a")
    assert pushed(store, "a").priority == -5


def test_the_payload_can_come_from_standard_input(run: Run, store: Ferry) -> None:
    run("push", "send", "-", "--id", "a", stdin='{"to": "Ação"}')
    assert pushed(store, "a").payload == {"to": "Ação"}


def test_without_a_payload_it_is_null(run: Run, store: Ferry) -> None:
    run("push", "send", "--id", "a")
    assert pushed(store, "a").payload is None


def test_json_says_what_became_of_the_message(run: Run, store: Ferry) -> None:
    words = ("push", "send", "1", "--id", "a", "--json")
    assert json.loads(run(*words).stdout) == {"id": "a", "status": "created"}
    assert json.loads(run(*words).stdout) == {"id": "a", "status": "existing"}


def test_the_same_id_again_says_that_nothing_new_was_pushed(run: Run, store: Ferry) -> None:
    run("push", "send", "1", "--id", "a")
    again = run("push", "send", "1", "--id", "a")
    assert again.stdout == "a\n"
    assert "already there" in again.stderr
    assert "another body" in run("push", "send", "2", "--id", "a", code=4).stderr


@pytest.mark.parametrize(
    "words",
    [
        ["{"],
        ["NaN"],
        ["[" * 100_000],
        ["1" * 5_000],
        ["--priority", "urgent"],
        ["--delay", "soon"],
        ["--delay", "99999999h"],
        ["--expires", "0"],
        ["--max-attempts", "0"],
        ["--max-attempts", "x"],
        ["--meta", "user"],
        ["--meta", "user="],
        ["--id", ""],
        ["--queue", "\x1b[31m"],
        ["--app", "app"],
        ["--wait", "x"],
    ],
    ids=lambda words: " ".join(words)[:20].encode("unicode_escape").decode(),
)
def test_invalid_input_is_exit_code_2_and_writes_nothing(
    run: Run, store: Ferry, words: list[str]
) -> None:
    result = run("push", "send", *words, code=2)
    assert "\x1b" not in result.output
    assert not store.backend.snapshot().queues


def test_an_app_lends_its_tasks_defaults_and_checks_the_payload(run: Run, store: Ferry) -> None:
    good = '{"to": "ann", "password": "x"}'
    run("push", "send", good, "--app", "app:ferry", "--id", "a")
    assert pushed(store, "a").queue == "mail"
    assert (
        "payload.password" in run("push", "send", '{"to": 1}', "--app", "app:ferry", code=2).stderr
    )
    assert "did you mean 'send'" in run("push", "sed", "--app", "app:ferry", code=2).stderr


def test_the_flag_goes_before_the_apps_own_store(run: Run, store: Ferry) -> None:
    run("push", "explode", '"x"', "--app", "app:ferry", "--url", "sqlite:///other.db")
    assert not store.backend.snapshot().queues
    assert "explode" in run("jobs", "list", "--url", "sqlite:///other.db").stdout


def test_wait_prints_the_result_without_secrets(command: Command, store: Ferry) -> None:
    worker = command("work", "app:ferry", "--poll-every", "50ms")
    words = ("push", "send", '{"to": "ann", "password": "geheim"}', "--app", "app:ferry")
    process = command(*words, "--wait", "30")
    data, talk = process.communicate(timeout=40)
    assert process.returncode == 0, talk
    assert json.loads(data) == {"to": "ann", "token": "***"}
    failing = command("push", "explode", '"boom"', "--app", "app:ferry", "--wait", "30", "--json")
    data, talk = failing.communicate(timeout=40)
    assert failing.returncode == 1
    assert json.loads(data)["job"]["state"] == "failed"
    assert "ended in failed: ValueError: boom" in talk
    worker.terminate()
    worker.communicate(timeout=30)
    assert worker.returncode == 0


def test_a_wait_that_runs_out_of_time_is_a_failure_and_harms_nothing(
    run: Run, store: Ferry
) -> None:
    result = run("push", "send", "1", "--id", "a", "--wait", "10ms", code=1)
    assert "still pending" in result.stderr
    assert pushed(store, "a").state is State.PENDING


def test_a_cancelled_job_ends_the_wait(command: Command, store: Ferry) -> None:
    process = command("push", "send", "1", "--id", "a", "--wait", "30")
    wait_until(lambda: store.backend.get("a"), timeout=30, what="the push")
    store.backend.cancel(["a"])
    assert "ended in cancelled" in process.communicate(timeout=30)[1]
    assert process.returncode == 1
