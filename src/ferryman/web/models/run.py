"""Pipelines and their runs."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from ferryman.pipeline.run import RunState


class Edge(BaseModel):
    """One stage hands over to the other."""

    source: str = Field(serialization_alias="from")
    target: str = Field(serialization_alias="to")


class Stage(BaseModel):
    """A step of a pipeline; `collects` is null for one without a fan-in."""

    stage: str
    queue: str
    collects: str | None


class Pipeline(BaseModel):
    """The stages in order, and how they are joined."""

    pipeline: str
    stages: list[Stage]
    edges: list[Edge]


class Pipelines(BaseModel):
    """Those that have had runs."""

    pipelines: list[Pipeline]


class StageCounts(BaseModel):
    """The jobs of one stage by state."""

    stage: str
    pending: int
    processing: int
    completed: int
    failed: int
    cancelled: int
    paused: int


class Run(BaseModel):
    """A run as lists show it; `finished_at` is null until it has ended.

    `stages` and that are null where the runs of the list have too many jobs to count them.
    """

    run: str
    pipeline: str
    state: RunState
    started_at: datetime
    finished_at: datetime | None
    stages: list[StageCounts] | None


class Runs(BaseModel):
    """Newest first; `next` goes on after them, null at the end."""

    runs: list[Run]
    next: str | None


class WholeRun(BaseModel):
    """A run with the jobs of each stage; `finished_at` is null until it has ended."""

    run: str
    pipeline: str
    state: RunState
    stages: list[StageCounts]
    edges: list[Edge]
    started_at: datetime | None
    finished_at: datetime | None


class ActedRun(BaseModel):
    """How many jobs of the run were touched."""

    run: str
    done: Literal["cancelled", "paused", "resumed", "retried"]
    jobs: int
