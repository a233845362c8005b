"""Three steps from bank to bank; each hands over to the next with a plain push."""

from __future__ import annotations

import os
import time
from pathlib import Path

from ferryman import Ferry, Job, Retry

ferry = Ferry(lease=2.0)

# Ids are derived from the crate: if a worker dies between its push and its end, the step that runs
# again pushes the same id and gets the same job.


@ferry.task(queue="load", retry=Retry(5, base=0.1))
def load(crate: int, job: Job) -> None:
    """Bring a crate on board."""
    _work(job, 4)
    cross.using(id=f"cross-{crate}").push(crate)


@ferry.task(queue="cross", retry=Retry(5, base=0.1))
async def cross(crate: int, job: Job) -> None:
    """Row it over; the current turns some boats back at the first try."""
    import asyncio

    await asyncio.sleep(0.05)
    if crate % 7 == 0 and job.attempts == 1:
        raise ConnectionError(f"the current took crate {crate} back")
    await unload.using(id=f"unload-{crate}").apush(crate)


@ferry.task(queue="unload", retry=Retry(5, base=0.1))
def unload(crate: int, job: Job) -> str:
    """Write it into the quay's book, the outside world of this demo."""
    _work(job, 2)
    book = Path(os.environ["FERRYMAN_DEMO_BOOK"])
    with book.open("a") as lines:
        lines.write(f"{crate}\n")
    return f"crate {crate} is over"


def _work(job: Job, steps: int) -> None:
    for step in range(steps):
        job.progress(100 * step / steps)
        time.sleep(0.02)
