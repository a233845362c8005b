"""The app of the web measurements: `ferryman serve` and `ferryman work` load it.

Where `FERRYMAN_BENCH_CALLS` names a file, it grows by one byte for each question to the store.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from bench.crowd import QUEUES, TASKS
from ferryman import Ferry

if TYPE_CHECKING:
    from ferryman import Event

PACED: Final = "paced"
CALLS: Final = "FERRYMAN_BENCH_CALLS"

ferry = Ferry()


def nothing(payload: dict[str, Any]) -> None:
    """What every task here does."""


for _queue in QUEUES:
    for _task in TASKS:
        ferry.task(name=f"{_queue}.{_task}", queue=_queue)(nothing)
paced = ferry.task(name=PACED, queue=PACED)(nothing)

if CALLS in os.environ:
    _calls = os.open(os.environ[CALLS], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    @ferry.on("backend.call")
    def _count(_event: Event) -> None:
        os.write(_calls, b".")
