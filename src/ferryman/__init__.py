"""One job queue and pipeline engine: the same code and the same promises on every store."""

from importlib import import_module
from typing import TYPE_CHECKING

__all__ = [
    "BackendRejected",
    "BackendUnavailable",
    "Backoff",
    "Breaker",
    "BreakerOpen",
    "Cancel",
    "Clock",
    "Closed",
    "Conflict",
    "Event",
    "Fail",
    "Ferry",
    "FerrymanError",
    "Filter",
    "Handle",
    "InvalidFilter",
    "InvalidMessage",
    "InvalidView",
    "Job",
    "JobCancelled",
    "JobError",
    "JobFailed",
    "JobFilter",
    "JobNotFound",
    "JsonLines",
    "LeaseLost",
    "LogLine",
    "Message",
    "NotAllowed",
    "Options",
    "OutcomeUnknown",
    "Pipeline",
    "Queue",
    "QueueFull",
    "Rate",
    "Retry",
    "Run",
    "Settings",
    "Snooze",
    "State",
    "StillUnfinished",
    "Supervisor",
    "Task",
    "TaskError",
    "Tasks",
    "Unsupported",
    "Worker",
    "add_job",
    "collect",
    "current_job",
    "trace",
]

if TYPE_CHECKING:
    from ferryman.clock import Clock
    from ferryman.errors import (
        BackendRejected,
        BackendUnavailable,
        BreakerOpen,
        Closed,
        Conflict,
        FerrymanError,
        InvalidFilter,
        InvalidMessage,
        InvalidView,
        JobCancelled,
        JobFailed,
        JobNotFound,
        LeaseLost,
        NotAllowed,
        OutcomeUnknown,
        QueueFull,
        StillUnfinished,
        TaskError,
        Unsupported,
    )
    from ferryman.events import Event
    from ferryman.ferry import Ferry
    from ferryman.filter import Filter
    from ferryman.flow.breakers import Breaker
    from ferryman.flow.rates import Rate
    from ferryman.job import Job, JobError, LogLine, State
    from ferryman.message import Message
    from ferryman.outcomes import Cancel, Fail, Retry, Snooze
    from ferryman.pipeline.pipeline import Pipeline
    from ferryman.pipeline.run import Run
    from ferryman.retry import Backoff
    from ferryman.service.supervisor import Supervisor
    from ferryman.tasks.handle import Handle
    from ferryman.tasks.options import Options
    from ferryman.tasks.route import collect
    from ferryman.tasks.task import Task
    from ferryman.tasks.tasks import Tasks
    from ferryman.telemetry.context import JobFilter, add_job
    from ferryman.telemetry.lines import JsonLines
    from ferryman.telemetry.tracing import trace
    from ferryman.worker.current import current_job
    from ferryman.worker.own_loop import Queue
    from ferryman.worker.settings import Settings
    from ferryman.worker.worker import Worker
else:
    # Imported at their first use: `ferryman --help` needs none of them, and to catch an error
    # takes no worker. Names without a home here live in `errors`.
    _HOMES = {
        "clock": ("Clock",),
        "events": ("Event",),
        "ferry": ("Ferry",),
        "filter": ("Filter",),
        "flow.breakers": ("Breaker",),
        "flow.rates": ("Rate",),
        "job": ("Job", "JobError", "LogLine", "State"),
        "message": ("Message",),
        "outcomes": ("Cancel", "Fail", "Retry", "Snooze"),
        "pipeline.pipeline": ("Pipeline",),
        "pipeline.run": ("Run",),
        "retry": ("Backoff",),
        "service.supervisor": ("Supervisor",),
        "tasks.handle": ("Handle",),
        "tasks.options": ("Options",),
        "tasks.route": ("collect",),
        "tasks.task": ("Task",),
        "tasks.tasks": ("Tasks",),
        "telemetry.context": ("JobFilter", "add_job"),
        "telemetry.lines": ("JsonLines",),
        "telemetry.tracing": ("trace",),
        "worker.current": ("current_job",),
        "worker.own_loop": ("Queue",),
        "worker.settings": ("Settings",),
        "worker.worker": ("Worker",),
    }
    _HOME = {name: home for home, names in _HOMES.items() for name in names}

    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"ferryman.{_HOME.get(name, 'errors')}"), name)
        globals()[name] = value
        return value

    def __dir__():
        return sorted({*globals(), *__all__})
