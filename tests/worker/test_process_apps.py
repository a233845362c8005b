"""How a child process finds the app: `__main__`, modules, its store, and its worker's death."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ferryman import Ferry, Retry, Settings, State
from ferryman.testing import wait_until
from ferryman.worker.wire import Wire
from tests.worker.pids import alive, pids

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
Process = subprocess.Popen[bytes]

SCRIPT = """
import sys
from ferryman import Ferry, Retry, Settings

ferry = Ferry(sys.argv[1])

@ferry.task(queue="other")
def second() -> None: ...

@ferry.task(executor="process", retry=Retry(1))
def first() -> str:
    return second.using(id="pushed by a child").push().id

if __name__ == "__main__":
    raise SystemExit(ferry.worker({"default": 1}, Settings(lease=5, drain=5)).run())
"""

MODULE = """
from ferryman import Ferry, Retry
from ferryman.worker.parent import is_child

ferry = Ferry("memory://")

if is_child() and TROUBLE == "import":
    raise ImportError("no such library")

if not (is_child() and TROUBLE == "hidden"):
    @ferry.task(executor="process", retry=Retry(1))
    def first() -> str:
        return first.push().id
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Ferry]:
    with Ferry(f"sqlite:///{tmp_path}/jobs.db") as ferry:
        yield ferry


@pytest.fixture
def start() -> Iterator[Callable[..., Process]]:
    processes: list[Process] = []

    def run(*words: str) -> Process:
        process = subprocess.Popen([sys.executable, *words], cwd=ROOT)
        processes.append(process)
        return process

    yield run
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.wait()


def module_worker(store: Ferry, **options: float) -> list[str]:
    chosen = json.dumps({"lease": 5.0, "drain": 5.0, **options})
    return ["-m", "tests.worker.process_app", store.url, chosen]


def test_tasks_of_main_run_as_multiprocessing_makes_them_run(
    store: Ferry, start: Callable[..., Process]
) -> None:
    handle = store.push("where_am_i", queue="default")
    worker = start(*module_worker(store))
    place = handle.result(20)
    assert place["module"] == "__mp_main__"
    assert place["pid"] != worker.pid
    worker.terminate()
    assert worker.wait(20) == 0
    assert not alive(place["pid"])


def test_a_script_of_its_own_can_push_from_its_children(
    store: Ferry, start: Callable[..., Process], tmp_path: Path
) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    handle = store.push("first", queue="default")
    start(str(tmp_path / "script.py"), store.url)
    assert handle.result(20) == "pushed by a child"
    pushed = store.backend.get("pushed by a child")
    assert pushed is not None
    assert pushed.queue == "other"


def test_a_script_that_starts_its_worker_unguarded_is_told_so(
    store: Ferry, start: Callable[..., Process], tmp_path: Path
) -> None:
    unguarded = SCRIPT.replace('if __name__ == "__main__":', "if True:")
    (tmp_path / "script.py").write_text(unguarded)
    handle = store.push("first", queue="default", retry=Retry(1))
    start(str(tmp_path / "script.py"), store.url)
    job = handle.wait(20)
    assert (job.state, job.errors[0].kind) == (State.FAILED, "TaskError")
    assert "under `if __name__ == '__main__':`" in (job.error or "")


def test_a_killed_worker_takes_its_children_along_even_those_that_hold_their_gil(
    store: Ferry, start: Callable[..., Process], tmp_path: Path
) -> None:
    store.push("hoard_gil", {"seconds": 60, "path": str(tmp_path / "hoarder")}, queue="default")
    store.push("hold", str(tmp_path / "never"), queue="default")
    worker = start(*module_worker(store))
    children = [*pids(tmp_path / "hoarder"), *pids(tmp_path / "never.pid")]
    assert all(map(alive, children))
    worker.kill()
    wait_until(lambda: not any(map(alive, children)), what="the end of the children")


def test_sigterm_to_the_whole_group_drains_and_the_children_finish(
    store: Ferry, start: Callable[..., Process], tmp_path: Path
) -> None:
    go = tmp_path / "go"
    handle = store.push("hold", str(go), queue="default")
    worker = start(*module_worker(store, drain=20.0))
    for pid in (*pids(Path(f"{go}.pid")), worker.pid):
        os.kill(pid, signal.SIGTERM)
    go.touch()
    assert worker.wait(20) == 0
    job = handle.job()
    assert (job.state, job.attempts) == (State.COMPLETED, 1)


@pytest.mark.parametrize(
    ("trouble", "kind", "text"),
    [
        ("import", "ImportError", "no such library"),
        ("hidden", "TaskError", "found no task 'first' in it"),
        ("none", "Unsupported", "memory:// lives in the worker's process"),
    ],
)
def test_trouble_in_the_child_is_the_error_of_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: str, kind: str, text: str
) -> None:
    name = f"app_with_trouble_{trouble}"
    (tmp_path / f"{name}.py").write_text(f"TROUBLE = {trouble!r}\n{MODULE}")
    monkeypatch.syspath_prepend(tmp_path)
    app: Any = import_module(name)
    monkeypatch.delitem(sys.modules, name)
    worker = app.ferry.worker({"default": 1}, Settings(lease=5, drain=1))
    worker.start()
    try:
        job = app.first.push().wait(20)
    finally:
        worker.join()
        app.ferry.close()
    assert (job.state, job.errors[0].kind) == (State.FAILED, kind)
    assert text in (job.error or "")
    assert "Traceback" in (job.errors[0].traceback or "")


def test_a_message_that_breaks_off_is_the_end_of_the_line() -> None:
    import socket

    ours, theirs = socket.socketpair()
    with ours, theirs:
        wire = Wire(ours)
        theirs.sendall(b'{"say": "report"}\n{"say": "en')
        theirs.shutdown(socket.SHUT_WR)
        assert wire.receive() == {"say": "report"}
        assert wire.receive() is None
        wire.close()
