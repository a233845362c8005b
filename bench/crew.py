"""The workers of one measurement: they get ready first, then all start at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from types import TracebackType

    from bench.contender import Contender

GET_READY: Final = 30.0
STOP: Final = 40.0
ROOT: Final = Path(__file__).resolve().parent.parent


class Crew(ABC):
    """Workers that are ready when the block begins and gone when it ends."""

    @abstractmethod
    def go(self) -> None:
        """Let all of them start."""

    @abstractmethod
    def check(self) -> None:
        """Raise if one of them has died."""

    def freeze(self) -> None:
        """Stop them wherever they are, until `thaw`."""
        raise NotImplementedError("threads cannot be frozen")

    def thaw(self) -> None:
        """Let them go on."""
        raise NotImplementedError("threads cannot be frozen")

    def said(self) -> str:
        """What they wrote to stderr."""
        return ""

    @abstractmethod
    def stop(self) -> None:
        """End them and wait for it."""

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def crew_of(contender: Contender, size: int, mark: str) -> Crew:
    """Processes, or threads for a store that lives in one process. `mark`: see `bench.worker`."""
    return Processes(contender, size, mark) if contender.processes else Threads(contender, size)


class Processes(Crew):
    """Each worker is a `python -m bench.worker` that says it is ready and waits for the gate."""

    def __init__(self, contender: Contender, size: int, mark: str) -> None:
        self._gate = contender.folder / "gate"
        self._log = contender.folder / "workers.log"
        command = [sys.executable, "-m", "bench.worker", contender.spec(), str(contender.folder)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        with self._log.open("ab") as log:
            self._workers = [
                subprocess.Popen(
                    [*command, mark, str(number)], env=environment, stdout=log, stderr=log
                )
                for number in range(size)
            ]
        try:
            self._await_ready(contender.folder, size)
        except BaseException:
            self.stop()
            raise

    def _await_ready(self, folder: Path, size: int) -> None:
        deadline = time.monotonic() + GET_READY
        while len(list(folder.glob("ready.*"))) < size:
            self.check()
            if time.monotonic() > deadline:
                raise TimeoutError(f"the workers were not ready after {GET_READY:g} s")
            time.sleep(0.005)

    def go(self) -> None:
        self._gate.touch()

    def freeze(self) -> None:
        for worker in self._workers:
            worker.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        for worker in self._workers:
            worker.send_signal(signal.SIGCONT)

    def check(self) -> None:
        for worker in self._workers:
            if worker.poll() is not None:
                raise RuntimeError(f"a worker ended with code {worker.returncode}:\n{self.said()}")

    def said(self) -> str:
        return self._log.read_text(errors="replace")[-2_000:]

    def stop(self) -> None:
        for worker in self._workers:
            worker.terminate()
            worker.send_signal(signal.SIGCONT)
        for worker in self._workers:
            try:
                worker.wait(STOP)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()


class Threads(Crew):
    """Each worker is `contender.work` on a thread."""

    def __init__(self, contender: Contender, size: int) -> None:
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._contender = contender
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(size)]

    def _work(self) -> None:
        try:
            self._contender.work(self._stop)
        except BaseException as error:
            self._error = error

    def go(self) -> None:
        for thread in self._threads:
            thread.start()

    def check(self) -> None:
        if self._error is not None:
            raise RuntimeError("a worker thread died") from self._error

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(STOP)
