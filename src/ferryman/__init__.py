"""One job queue and pipeline engine: the same code and the same promises on every store."""

from ferryman.errors import (
    BackendRejected,
    BackendUnavailable,
    Conflict,
    FerrymanError,
    InvalidFilter,
    InvalidMessage,
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
from ferryman.job import Job, JobError, LogLine, State
from ferryman.message import Message
from ferryman.outcomes import Cancel, Fail, Retry, Snooze
from ferryman.retry import Backoff
from ferryman.tasks.handle import Handle
from ferryman.tasks.options import Options
from ferryman.tasks.task import Task
from ferryman.tasks.tasks import Tasks
from ferryman.worker.executor import current_job
from ferryman.worker.own_loop import Queue
from ferryman.worker.worker import Settings, Worker

__all__ = [
    "BackendRejected",
    "BackendUnavailable",
    "Backoff",
    "Cancel",
    "Conflict",
    "Event",
    "Fail",
    "Ferry",
    "FerrymanError",
    "Filter",
    "Handle",
    "InvalidFilter",
    "InvalidMessage",
    "Job",
    "JobCancelled",
    "JobError",
    "JobFailed",
    "JobNotFound",
    "LeaseLost",
    "LogLine",
    "Message",
    "NotAllowed",
    "Options",
    "OutcomeUnknown",
    "Queue",
    "QueueFull",
    "Retry",
    "Settings",
    "Snooze",
    "State",
    "StillUnfinished",
    "Task",
    "TaskError",
    "Tasks",
    "Unsupported",
    "Worker",
    "current_job",
]
