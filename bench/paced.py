"""Work that goes on beside what is measured, until SIGTERM.

`python -m bench.paced push JOBS_A_SECOND` is a producer that keeps its pace, `python -m bench.paced
work` a worker for it. The worker keeps history: the crowd is older than a worker would leave it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Final

from bench.contender import payload
from bench.web_app import PACED, ferry, paced
from ferryman.worker.settings import Settings

EVERY: Final = 0.1
SLOTS: Final = 2


def push(stop: threading.Event, rate: float) -> None:
    """A tenth of a second's jobs each tenth of a second; what is late is made up for."""
    jobs, parent = round(rate * EVERY), os.getppid()
    due = time.monotonic()
    number = 0
    # One that was killed leaves no producer behind.
    while not stop.wait(max(0.0, due - time.monotonic())) and os.getppid() == parent:
        paced.push_many([payload(number + place) for place in range(jobs)])
        number += jobs
        due += EVERY


def work(stop: threading.Event) -> None:
    """One worker as it comes, but for its history."""
    worker = ferry.worker({PACED: SLOTS}, Settings(history=None))
    parent = os.getppid()
    worker.start()
    while not stop.wait(0.5) and os.getppid() == parent:
        pass
    worker.join()
    if worker.error is not None:
        raise worker.error


def main(act: str, *rate: str) -> None:
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda _number, _frame: stop.set())
    if act == "push":
        push(stop, float(rate[0]))
    else:
        work(stop)
    ferry.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
