"""Runs of pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferryman.job import State
from ferryman.service.presentation.values import moment

if TYPE_CHECKING:
    from ferryman.pipeline.run import Progress, RunState
    from ferryman.pipeline.shape import Shape
    from ferryman.service.runs import RunRow, WholeRun


def run_row(row: RunRow) -> dict[str, Any]:
    """A run as lists show it; `stages` is null where it has too many jobs to count here."""
    progress = row.progress
    return {
        "run": row.id,
        "pipeline": row.pipeline,
        "state": row.state,
        "started_at": moment(row.started_at),
        "finished_at": None if progress is None else _ended(row.state, progress),
        "stages": None if progress is None else _stages(progress),
    }


def run_whole(whole: WholeRun) -> dict[str, Any]:
    """A run with the jobs of each stage by state."""
    return {
        "run": whole.id,
        "pipeline": whole.pipeline,
        "state": whole.progress.state,
        "stages": _stages(whole.progress),
        "edges": _edges(whole.shape),
        "started_at": moment(whole.progress.began_at),
        "finished_at": _ended(whole.progress.state, whole.progress),
    }


def pipeline(shape: Shape) -> dict[str, Any]:
    """A pipeline's stages in order; `collects` is null for one without a fan-in."""
    return {
        "pipeline": shape.name,
        "stages": [
            {"stage": stage.name, "queue": stage.queue, "collects": stage.collects}
            for stage in shape.stages
        ],
        "edges": _edges(shape),
    }


def _stages(progress: Progress) -> list[dict[str, Any]]:
    return [
        {"stage": stage, **{str(state): counts.get(state, 0) for state in State}}
        for stage, counts in progress.stages.items()
    ]


def _ended(state: RunState, progress: Progress) -> str | None:
    return None if state in ("running", "paused") else moment(progress.ended_at)


def _edges(shape: Shape) -> list[dict[str, str]]:
    return [{"from": name, "to": stage.name} for stage in shape.stages for name in stage.after]
