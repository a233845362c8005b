"""One worker process: `python -m bench.worker CONTENDER FOLDER count|delay NUMBER`."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Final

from bench.contender import find
from bench.marks import Marks

LOOK_EVERY: Final = 0.002


def main(spec: str, folder: Path, mark: str, number: str) -> None:
    """Open the queue, say so, wait for the gate, work until SIGTERM."""
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda _number, _frame: stop.set())
    marks = Marks(folder / "marks")
    contender = find(spec)(folder, getattr(marks, mark))
    (folder / f"ready.{number}").touch()
    gate, parent = folder / "gate", os.getppid()
    while not gate.exists() and not stop.is_set():
        # A benchmark that was killed must not leave workers behind.
        if os.getppid() != parent:
            return
        time.sleep(LOOK_EVERY)
    threading.Thread(target=_follow, args=(parent, stop), daemon=True).start()
    contender.work(stop)
    contender.close()


def _follow(parent: int, stop: threading.Event) -> None:
    while not stop.wait(1.0):
        if os.getppid() != parent:
            stop.set()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4])
