"""Processes: a fork carries no connection over, and the first users of a file do not collide."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from ferryman.queue.open import open_backend

if TYPE_CHECKING:
    from pathlib import Path

# The parent closes last while the child works on: with inherited connections its jobs would go.
PARENT_CLOSES_FIRST = """
import os, sys
from ferryman.message import Message
from ferryman.queue.open import open_backend
backend = open_backend(f"sqlite:///{sys.argv[1]}")
backend.push([Message.of("mail", "send", id="parent")])
backend.snapshot()
backend.wait(["other"], 0)
to_child, from_parent = os.pipe()
child = os.fork()
if child == 0:
    backend.push([Message.of("mail", "send", id="child, parent open")])
    os.read(to_child, 1)
    backend.push([Message.of("mail", "send", id="child, parent closed")])
    os._exit(0)
backend.push([Message.of("mail", "send", id="parent, after the fork")])
backend.close()
os.write(from_parent, b"x")
assert os.waitpid(child, 0)[1] == 0
"""

# Threads write and wait all the while, so every lock is held by someone when the fork comes.
FORKS_UNDER_LOAD = """
import os, sys, threading
from ferryman.message import Message
from ferryman.queue.open import open_backend
backend = open_backend(f"sqlite:///{sys.argv[1]}?synchronous=normal")
stop = threading.Event()
def write():
    while not stop.is_set():
        backend.push([Message.of("load", "send")])
        backend.snapshot()
def wait():
    while not stop.is_set():
        backend.wait(["nothing"], 0.02)
threads = [threading.Thread(target=act) for act in (write, write, wait, wait)]
for thread in threads:
    thread.start()
children = []
for number in range(8):
    child = os.fork()
    if child == 0:
        backend.push([Message.of("mail", "send", id=f"child {number}")])
        assert backend.wait(["mail"], 5)
        os._exit(0)
    children.append(child)
codes = [os.waitpid(child, 0)[1] for child in children]
stop.set()
for thread in threads:
    thread.join()
assert codes == [0] * 8, codes
"""

FORKS_BEHIND_PYTHONS_BACK = """
import ctypes, os, sys
from ferryman.errors import BackendRejected
from ferryman.message import Message
from ferryman.queue.open import open_backend
backend = open_backend(f"sqlite:///{sys.argv[1]}")
child = ctypes.PyDLL(None).fork()
if child == 0:
    try:
        backend.push([Message.of("mail", "send")])
    except BackendRejected as error:
        os._exit(7 if "connect after the fork" in str(error) else 1)
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""

PUSHES_AT_ONCE = """
import sys
from ferryman.message import Message
from ferryman.queue.open import open_backend
sys.stdin.readline()
backend = open_backend(f"sqlite:///{sys.argv[1]}")
for number in range(20):
    backend.push([Message.of("mail", "send")])
"""


def test_nothing_a_child_pushed_is_lost_when_its_parent_closes(tmp_path: Path) -> None:
    run(PARENT_CLOSES_FIRST, tmp_path / "jobs.db")
    assert ids(tmp_path / "jobs.db") == {
        "parent",
        "parent, after the fork",
        "child, parent open",
        "child, parent closed",
    }


def test_a_fork_in_the_middle_of_other_threads_work_leaves_both_processes_working(
    tmp_path: Path,
) -> None:
    run(FORKS_UNDER_LOAD, tmp_path / "jobs.db")
    assert {f"child {number}" for number in range(8)} <= ids(tmp_path / "jobs.db")


def test_a_fork_that_python_was_not_told_of_is_refused_in_the_child(tmp_path: Path) -> None:
    run(FORKS_BEHIND_PYTHONS_BACK, tmp_path / "jobs.db")
    assert ids(tmp_path / "jobs.db") == set()


def test_processes_that_meet_an_absent_file_make_it_together(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PUSHES_AT_ONCE, path], stdin=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.close()
    assert [process.wait(30) for process in processes] == [0] * 4
    assert len(ids(path)) == 80


def run(script: str, path: Path) -> None:
    subprocess.run([sys.executable, "-c", script, path], check=True, timeout=50)


def ids(path: Path) -> set[str]:
    backend = open_backend(f"sqlite:///{path}")
    found = {job.id for job in backend.poll("reader", {"mail": 1_000}, lease=60)}
    backend.close()
    return found
