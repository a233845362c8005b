"""The answers of the API, as its description shows them.

They describe what `service.presentation` makes, and take no part in sending it: a test compares
them with real answers. New members may come, so clients ignore those that they do not know.
"""

from __future__ import annotations

from ferryman.web.models.audit import AuditPage, AuditRow
from ferryman.web.models.bulk import BulkAct, BulkActs, Preview
from ferryman.web.models.failure import FailureGroup, Failures
from ferryman.web.models.health import Health
from ferryman.web.models.history import Bucket, History, Quantiles
from ferryman.web.models.job import (
    ActedJob,
    FoundJobs,
    Job,
    JobCounts,
    JobError,
    JobLogs,
    JobPage,
    JobProgress,
    JobResult,
    LogLine,
    WholeJob,
)
from ferryman.web.models.key import Key, Keys, MadeKey
from ferryman.web.models.limits import Breaker, Breakers, Permit, Permits, Rate, Rates, ResetBreaker
from ferryman.web.models.me import Me, Session, StoreCapabilities
from ferryman.web.models.problem import Flaw, Problem
from ferryman.web.models.push import PushedJob, PushedJobs
from ferryman.web.models.queue import Purged, Queue, QueuePause, Queues, Reason, Scale, WholeQueue
from ferryman.web.models.run import (
    ActedRun,
    Edge,
    Pipeline,
    Pipelines,
    Run,
    Runs,
    Stage,
    StageCounts,
    WholeRun,
)
from ferryman.web.models.schedule import RanSchedule, Schedule, SchedulePause, Schedules
from ferryman.web.models.store import Change, Finding, Findings, Overview, Trouble
from ferryman.web.models.worker import Worker, Workers

__all__ = [
    "ActedJob",
    "ActedRun",
    "AuditPage",
    "AuditRow",
    "Breaker",
    "Breakers",
    "Bucket",
    "BulkAct",
    "BulkActs",
    "Change",
    "Edge",
    "FailureGroup",
    "Failures",
    "Finding",
    "Findings",
    "Flaw",
    "FoundJobs",
    "Health",
    "History",
    "Job",
    "JobCounts",
    "JobError",
    "JobLogs",
    "JobPage",
    "JobProgress",
    "JobResult",
    "Key",
    "Keys",
    "LogLine",
    "MadeKey",
    "Me",
    "Overview",
    "Permit",
    "Permits",
    "Pipeline",
    "Pipelines",
    "Preview",
    "Problem",
    "Purged",
    "PushedJob",
    "PushedJobs",
    "Quantiles",
    "Queue",
    "QueuePause",
    "Queues",
    "RanSchedule",
    "Rate",
    "Rates",
    "Reason",
    "ResetBreaker",
    "Run",
    "Runs",
    "Scale",
    "Schedule",
    "SchedulePause",
    "Schedules",
    "Session",
    "Stage",
    "StageCounts",
    "StoreCapabilities",
    "Trouble",
    "WholeJob",
    "WholeQueue",
    "WholeRun",
    "Worker",
    "Workers",
]
