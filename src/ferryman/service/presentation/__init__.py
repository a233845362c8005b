"""Jobs, queues and workers as plain JSON for people and scripts: the one place of these shapes.

Times are ISO 8601 in UTC with a Z, None is null, secrets are hidden. The keys are stable: new ones
may come, none changes its meaning.
"""

from __future__ import annotations

from ferryman.service.presentation.access import api_key, audit, bulk_act
from ferryman.service.presentation.flow import breaker, permit, rate, schedule
from ferryman.service.presentation.history import history
from ferryman.service.presentation.jobs import (
    acted,
    bulk,
    carried,
    counted,
    failures,
    found,
    job_summary,
    job_whole,
    logs,
    page,
    progress,
    pushed,
    result,
)
from ferryman.service.presentation.runs import pipeline, run_row, run_whole
from ferryman.service.presentation.store import (
    finding,
    overview,
    queue,
    reason,
    scale,
    setting,
    tick,
    trouble,
    worker,
)
from ferryman.service.presentation.values import UNREADABLE, moment

__all__ = [
    "UNREADABLE",
    "acted",
    "api_key",
    "audit",
    "breaker",
    "bulk",
    "bulk_act",
    "carried",
    "counted",
    "failures",
    "finding",
    "found",
    "history",
    "job_summary",
    "job_whole",
    "logs",
    "moment",
    "overview",
    "page",
    "permit",
    "pipeline",
    "progress",
    "pushed",
    "queue",
    "rate",
    "reason",
    "result",
    "run_row",
    "run_whole",
    "scale",
    "schedule",
    "setting",
    "tick",
    "trouble",
    "worker",
]
