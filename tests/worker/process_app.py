"""Handlers for child processes, and a worker that has them in `__main__`."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ferryman import (
    Cancel,
    Fail,
    Ferry,
    Job,
    LeaseLost,
    Retry,
    Settings,
    Snooze,
    Tasks,
    current_job,
)
from ferryman.errors import BackendUnavailable

tasks = Tasks()
leaked: list[bytearray] = []


class Model(BaseModel):
    name: str
    size: int = 1


def wait_for(path: str | Path) -> None:
    while not Path(path).exists():
        time.sleep(0.005)


def say_pid(path: str | Path, *pids: int) -> None:
    """Whole at once, so that a reader never sees half of it."""
    text = " ".join(map(str, (os.getpid(), *pids)))
    unfinished = Path(f"{path}.part")
    unfinished.write_text(text)
    unfinished.rename(path)


def speak(word: str, model: Model, job: Job) -> Any:
    job.progress(40, f"about to say {word}")
    job.log(f"attempt {job.attempts} of {job.max_attempts}, meta {dict(job.meta)}")
    said: dict[str, Any] = {
        "snooze": Snooze(50, "later"),
        "retry": Retry(after=50, reason="busy"),
        "fail": Fail("gone"),
        "cancel": Cancel("unwanted"),
        "model": model,
        "object": object(),
        "none": None,
        "text": "\ud800 and 🛶",
        "plain": {"job": job.id == getattr(current_job(), "id", None), "n": [1, 2.5, None]},
    }
    verb, _, name = word.partition(" ")
    if verb == "raise":
        errors = {"value": ValueError("no\nsuch page"), "key": KeyError("k"), "exit": SystemExit(3)}
        raise said[name] if name in said else errors[name]
    return said[name]


_RETRY = Retry(2, base=50, jitter=0, rules={KeyError: Fail})
speak_in_process = tasks.task(name="speak_in_process", executor="process", retry=_RETRY)(speak)
speak_in_thread = tasks.task(name="speak_in_thread", retry=_RETRY)(speak)


@tasks.task(executor="process")
def where_am_i() -> dict[str, Any]:
    main = threading.current_thread() is threading.main_thread()
    return {"pid": os.getpid(), "module": where_am_i.handler.__module__, "main_thread": main}


@tasks.task(executor="process", retry=Retry(1))
def acks_itself(job: Job) -> None:
    job.ack(connection=object())


@tasks.task(executor="process", recycle_after=2)
def twice_only() -> int:
    return os.getpid()


@tasks.task(executor="process", max_memory_mib=150)
def leak(mib: int) -> int:
    leaked.append(bytearray(os.urandom(1) * (mib << 20)))
    return os.getpid()


@tasks.task(executor="process", retry=Retry(2, base=0))
def die(how: str) -> None:
    match how:
        case "segfault":
            ctypes.string_at(0)
        case "exit":
            os._exit(3)
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "orphan":
            # A fork holds our end of the line open after we are dead.
            if os.fork() == 0:
                time.sleep(60)
            os.kill(os.getpid(), signal.SIGABRT)


@tasks.task(executor="process", timeout=0.2, retry=Retry(1))
def hang(path: str) -> None:
    program = subprocess.Popen(["sleep", "60"])  # noqa: S607
    say_pid(path, program.pid)
    threading.Event().wait()


@tasks.task(executor="process")
def hoard_gil(seconds: float, path: str = "") -> str:
    if path:
        say_pid(path)
    ctypes.PyDLL(None).usleep(int(seconds * 1e6))
    return "awake"


@tasks.task(executor="process", retry=Retry(3, base=0))
def hold(path: str, job: Job) -> str:
    """Says its pid, then holds until the file `path` is there."""
    say_pid(f"{path}.pid")
    wait_for(path)
    return f"claim {job.fence}"


@tasks.task(executor="process")
def walk(path: str, job: Job) -> None:
    """Goes from safe point to safe point for ever."""
    job.checkpoint({"page": 7})
    say_pid(path)
    while True:
        job.progress(10)
        time.sleep(0.005)


@tasks.task(executor="process", retry=Retry(3, base=0))
def resume(path: str, job: Job) -> str:
    """Holds until it is told to stop, then saves."""
    page = job.checkpoint()
    if page is not None:
        return f"resumed at {page}"
    say_pid(path)
    while not job.cancelled:
        time.sleep(0.005)
    job.log("stops")
    try:
        job.checkpoint(5)
    except LeaseLost:
        Path(f"{path}.lost").touch()
        raise
    return "never"


@tasks.task(executor="process")
def save(path: str, job: Job) -> str:
    """Saves once `path` is there; what that raised is its result."""
    say_pid(f"{path}.pid")
    wait_for(path)
    try:
        job.checkpoint(1)
    except BackendUnavailable as error:
        Path(f"{path}.refused").touch()
        return f"{type(error).__name__}: {error}"
    return "saved"


@tasks.task(executor="process")
def chatter(times: int, job: Job) -> None:
    for number in range(times):
        job.progress(100 * number / times, f"{number}")
    job.log("done")


@tasks.task(executor="process")
def start_a_program() -> int:
    program = subprocess.Popen(["sleep", "60"])  # noqa: S607
    program.terminate()
    return program.wait()


@tasks.task(executor="process")
def push_another(name: str) -> str:
    try:
        return where_am_i.using(queue="other", id=name).push().id
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def main() -> int:
    options = json.loads(sys.argv[2])
    ferry = Ferry(sys.argv[1])
    ferry.include(tasks)
    return ferry.worker({"default": 2}, Settings(**options)).run()


if __name__ == "__main__":
    raise SystemExit(main())
