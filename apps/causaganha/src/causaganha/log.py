"""What becomes of jobs, as lines of the log `causaganha`."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ferryman import Event, Ferry

_LEVELS: Final = {
    "job.completed": logging.INFO,
    "job.returned": logging.INFO,
    "job.retried": logging.WARNING,
    "job.failed": logging.ERROR,
}
_log = logging.getLogger("causaganha")


def log_jobs(ferry: Ferry) -> None:
    """Tell every end of an attempt, with its reason if it ended badly."""
    for name in _LEVELS:
        ferry.on(name)(_tell)


def _tell(event: Event) -> None:
    job, error = event["job"], event.facts.get("error")
    reason = f": {error.text.splitlines()[0]}" if error is not None and error.text else ""
    what = event.name.partition(".")[2]
    if what == "retried":
        what = f"failed, will retry (attempt {job.attempts + 1})"
    _log.log(_LEVELS[event.name], "%s %s %s%s", job.task, job.id, what, reason)
