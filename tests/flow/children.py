"""Handlers for child processes, each under another limit."""

from __future__ import annotations

import os
import time
from pathlib import Path

from ferryman import Retry, Tasks

tasks = Tasks()


class Refused(Exception):
    """A service said no."""


class Busy(Refused):
    """It said when to come again."""

    retry_after = 3_600


@tasks.task(queue="apart", executor="process", needs=["service"], retry=Retry(1, base=0))
def call(says: str) -> None:
    if says == "crash":
        os._exit(9)
    if says == "bug":
        raise KeyError(says)
    if says != "well":
        raise Refused(says)


@tasks.task(queue="apart", executor="process", rate="busy")
def ask() -> None:
    raise Busy


@tasks.task(queue="apart", executor="process", concurrency=1, rate="4/h")
def alone(folder: str) -> bool:
    """Whether nobody else was here."""
    mark = Path(folder, "here")
    mark.touch(exist_ok=False)
    time.sleep(0.05)
    mark.unlink()
    return True
