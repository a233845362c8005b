"""`work --processes N` and `work --reload`: real processes, real signals, real edits."""

from __future__ import annotations

import json
import os
import signal
import socket
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

from ferryman import Ferry, Retry, State
from ferryman.cli.sources import Sources
from ferryman.testing import wait_until
from tests.telemetry.scrape import Scraped
from tests.worker.pids import alive

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from tests.cli.conftest import Command

SHORT = ("--poll-every", "50ms", "--lease", "5s", "--queues", "mail,slow")
TWO = ("work", "app:ferry", *SHORT, "--processes", "2")

JOINED = """
from ferryman import Ferry
from crew import tasks

ferry = Ferry("sqlite:///own.db")
ferry.include(tasks)
"""
CREW = """
from ferryman import Retry, Tasks

tasks = Tasks()

@tasks.task(queue="other")
def second() -> None: ...

@tasks.task(queue="mail", executor="process", retry=Retry(1))
def first() -> str:
    return second.using(id="second").push().id
"""


def workers(store: Ferry) -> set[int]:
    """The pids in the workers' rows."""
    return {json.loads(cell.value)["pid"] for cell in store.backend.read_cells("worker/")}


def two_workers(store: Ferry, *others: int) -> set[int]:
    def running() -> set[int] | None:
        found = workers(store) - set(others)
        return found if len(found) == 2 else None

    found = wait_until(running, timeout=20, what="two workers")
    assert found is not None
    return found


def talk_until(process: subprocess.Popen[str], text: str) -> None:
    assert process.stderr is not None
    assert any(text in line for line in process.stderr), f"never said {text!r}"


def result(store: Ferry, task: str, payload: Any = None) -> Any:
    return store.push(task, payload, queue="mail", retry=Retry(1)).result(20)


def test_one_that_dies_is_replaced_and_sigterm_drains_all(command: Command, store: Ferry) -> None:
    fleet = command(*TWO)
    first = two_workers(store)
    assert fleet.pid not in first
    killed = min(first)
    os.kill(killed, signal.SIGKILL)
    second = two_workers(store, killed)
    assert len(first & second) == 1
    assert result(store, "send", {"to": "ann", "password": "x"}) == {"to": "ann", "token": "x"}
    fleet.terminate()
    _, talk = fleet.communicate(timeout=20)
    assert fleet.returncode == 0, talk
    assert f"worker {killed} was killed by signal 9; another one starts in" in talk
    assert talk.count("worker stopped") == 2
    assert not any(map(alive, first | second))
    assert workers(store) <= {killed}


def test_ctrl_c_reaches_each_worker_once_and_the_second_one_does_not_wait(
    command: Command, store: Ferry, home: Path
) -> None:
    job_id = store.push("hold", str(home / "running"), queue="slow").id
    fleet = command(*TWO, "--drain", "10m", start_new_session=True)
    wait_until((home / "running").exists, timeout=20, what="the handler")
    pids = two_workers(store)
    assert {os.getpgid(pid) for pid in pids} == pids
    os.killpg(fleet.pid, signal.SIGINT)
    wait_until(lambda: len(workers(store)) == 1, timeout=20, what="the idle worker to leave")
    job = store.backend.get(job_id)
    assert job is not None
    assert job.state is State.PROCESSING
    os.killpg(fleet.pid, signal.SIGINT)
    _, talk = fleet.communicate(timeout=20)
    assert fleet.returncode == 0, talk
    job = store.backend.get(job_id)
    assert job is not None
    assert (job.state, job.attempts) == (State.PENDING, 0)


def test_workers_of_a_supervisor_that_was_killed_drain(command: Command, store: Ferry) -> None:
    fleet = command(*TWO)
    pids = two_workers(store)
    fleet.kill()
    fleet.wait()
    try:
        wait_until(lambda: not workers(store), timeout=20, what="both to take their rows away")
        wait_until(lambda: not any(map(alive, pids)), what="the end of both")
    finally:
        for pid in filter(alive, pids):
            os.kill(pid, signal.SIGKILL)


def test_a_worker_that_keeps_dying_ends_the_fleet_with_1(
    command: Command, store: Ferry, home: Path
) -> None:
    (home / "app.py").write_text("import no_such_library\n")
    fleet = command(*TWO)
    _, talk = fleet.communicate(timeout=30)
    assert fleet.returncode == 1
    assert "No module named 'no_such_library'" in talk
    assert "a worker ended with exit code 1 within 5 s, 5 times in a row" in talk


def test_a_mistake_in_the_command_is_not_tried_again(command: Command, store: Ferry) -> None:
    fleet = command("work", "nosuch:ferry", "--processes", "2")
    _, talk = fleet.communicate(timeout=20)
    assert fleet.returncode == 2
    assert 1 <= talk.count("there is no module 'nosuch'") <= 2


def test_reload_takes_up_a_change_and_waits_out_a_mistake(
    command: Command, store: Ferry, home: Path
) -> None:
    def app(answer: str) -> str:
        return (
            "from ferryman import Ferry\nferry = Ferry()\n\n"
            f"@ferry.task(queue='mail')\ndef ask() -> str:\n    return {answer}\n"
        )

    (home / "app.py").write_text(app("'first'"))
    fleet = command("work", "app:ferry", "--poll-every", "50ms", "--reload")
    assert result(store, "ask") == "first"
    (home / "app.py").write_text(app("'sec' + "))
    talk_until(fleet, "app.py changed: the worker restarts")
    talk_until(fleet, "SyntaxError")
    talk_until(fleet, "ended with exit code 1; waiting for a change of the app")
    (home / "app.py").write_text(app("'sec' + 'ond'"))
    assert result(store, "ask") == "second"
    fleet.terminate()
    fleet.communicate(timeout=20)
    assert fleet.returncode == 0


def test_sources_are_what_a_person_edits(tmp_path: Path) -> None:
    ignored = ["notes.txt", ".hidden/a.py", "__pycache__/b.py", "env/lib/c.py"]
    (tmp_path / "package").mkdir()
    for name in ignored:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "env" / "pyvenv.cfg").touch()
    sources = Sources(tmp_path)
    for name in ignored:
        (tmp_path / name).write_text("x")
    assert sources.changed() is None
    for change in (
        lambda path: path.write_text("a = 1"),
        lambda path: path.write_text("a = 12"),
        lambda path: os.utime(path, (1, 1)),
        lambda path: path.unlink(),
    ):
        change(tmp_path / "package" / "module.py")
        assert str(sources.changed()).endswith("package/module.py")
        assert sources.changed() is None


def test_the_sources_of_an_app_are_here_or_where_it_is_installed(home: Path) -> None:
    assert Sources.of("app:ferry")._folder == home
    assert Sources.of("nowhere:ferry")._folder == home
    assert Sources.of("ferryman.demo.tasks:ferry")._folder.name == "ferryman"


def test_a_child_process_knows_the_whole_app_and_the_store_of_the_command(
    command: Command, home: Path
) -> None:
    (home / "app.py").write_text(JOINED)
    (home / "crew.py").write_text(CREW)
    with Ferry("sqlite:///other.db") as other:
        handle = other.push("first", queue="mail")
        worker = command("work", "app:ferry", "--queues", "mail", "--url", "sqlite:///other.db")
        assert handle.result(20) == "second"
        assert other.backend.get("second") is not None
        worker.terminate()
        worker.communicate(timeout=20)
        assert worker.returncode == 0
    assert not (home / "own.db").exists()


def test_the_first_of_several_serves_and_shows_what_all_have_counted(
    command: Command, store: Ferry
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    token = "a-token-that-only-this-test-knows-012345"  # noqa: S105
    fleet = command(*TWO, f"--web={port}", env={**os.environ, "FERRYMAN_TOKEN": token})

    def scraped() -> Scraped | None:
        request = Request(
            f"http://127.0.0.1:{port}/metrics", headers={"Authorization": f"Bearer {token}"}
        )
        try:
            with urlopen(request) as answer:  # noqa: S310
                return Scraped(answer.read())
        except OSError:
            return None

    def finished() -> float:
        seen = scraped()
        counts = {} if seen is None else seen.named("ferryman_jobs_finished_total")
        return sum(counts.values())

    one = max(two_workers(store))
    for number in range(40):
        store.push("send", {"to": "ada", "password": str(number)}, queue="mail")
    wait_until(lambda: finished() == 40, timeout=20)
    os.kill(one, signal.SIGKILL)
    two_workers(store, one)
    store.push("send", {"to": "ada", "password": "x"}, queue="mail")
    wait_until(lambda: finished() == 41, timeout=20)
    fleet.terminate()
    assert fleet.wait(20) == 0
