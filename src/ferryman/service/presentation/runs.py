"""Runs of pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferryman.job import State
from ferryman.service.presentation.values import moment

if TYPE_CHECKING:
    from ferryman.pipeline.shape import Shape
    from ferryman.service.runs import RunRow, WholeRun


def run_row(row: RunRow) -> dict[str, Any]:
    """A run as lists show it."""
    return {
        "run": row.id,
        "pipeline": row.pipeline,
        "state": row.state,
        "started_at": moment(row.started_at),
    }


def run_whole(whole: WholeRun) -> dict[str, Any]:
    """A run with the jobs of each stage by state."""
    return {
        "run": whole.id,
        "pipeline": whole.pipeline,
        "state": whole.progress.state,
        "stages": [
            {"stage": stage, **{str(state): counts.get(state, 0) for state in State}}
            for stage, counts in whole.progress.stages.items()
        ],
        "edges": _edges(whole.shape),
        "started_at": moment(whole.progress.began_at),
        "finished_at": None
        if whole.progress.state in ("running", "paused")
        else moment(whole.progress.ended_at),
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


def _edges(shape: Shape) -> list[dict[str, str]]:
    return [{"from": name, "to": stage.name} for stage in shape.stages for name in stage.after]
