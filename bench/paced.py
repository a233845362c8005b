"""A producer that keeps its pace: `python -m bench.paced JOBS_A_SECOND`, until SIGTERM."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Final

from bench.contender import payload
from bench.web_app import ferry, paced

EVERY: Final = 0.1


def main(rate: float) -> None:
    """Push a tenth of a second's jobs each tenth of a second; what is late is made up for."""
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda _number, _frame: stop.set())
    jobs, parent = round(rate * EVERY), os.getppid()
    due = time.monotonic()
    number = 0
    # One that was killed leaves no producer behind.
    while not stop.wait(max(0.0, due - time.monotonic())) and os.getppid() == parent:
        paced.push_many([payload(number + place) for place in range(jobs)])
        number += jobs
        due += EVERY
    ferry.close()


if __name__ == "__main__":
    main(float(sys.argv[1]))
