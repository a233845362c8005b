"""The job that runs here, as keys for log records: the standard library's and structlog's."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from ferryman.worker.current import current_job

if TYPE_CHECKING:
    from collections.abc import MutableMapping


def job_fields() -> dict[str, Any]:
    """What tells the job whose handler runs here; empty outside of one."""
    job = current_job()
    if job is None:
        return {}
    fields = {
        "job_id": job.id,
        "task": job.task,
        "queue": job.queue,
        "attempt": job.attempts,
        "correlation_id": job.correlation_id,
        "worker": job.worker,
    }
    return {name: value for name, value in fields.items() if value is not None}


class JobFilter(logging.Filter):
    """Gives every record that passes the keys of the running job, as attributes.

    Put it on a handler: those on a logger do not see the records of its children.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        for name, value in job_fields().items():
            if not hasattr(record, name):
                setattr(record, name, value)
        return True


def add_job(
    logger: object, method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """A structlog processor: the same keys for its events; those that an event has stay."""
    for name, value in job_fields().items():
        event.setdefault(name, value)
    return event
