"""One whole job as text for people."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from ferryman.cli.output import put
from ferryman.telemetry.escape import json_safe, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_BLOCKS: Final = ("meta", "payload", "result", "checkpoint")
_HISTORY: Final = ("errors", "logs")
_NAME_WIDTH: Final = 15


def put_job(job: Mapping[str, Any]) -> None:
    """Print a job in the shape of `presentation.job_whole`; what is null is left out."""
    for name, value in job.items():
        if name not in (*_BLOCKS, *_HISTORY) and value is not None:
            put(f"{name:<{_NAME_WIDTH}} {one_line(str(value))}")
    for name in _BLOCKS:
        if job[name] not in (None, {}):
            put(f"{name}")
            _put_indented(json_safe(json.dumps(job[name], ensure_ascii=False, indent=2)), 2)
    _put_errors(job["errors"])
    _put_logs(job["logs"])
    put()


def _put_errors(errors: Sequence[Mapping[str, Any]]) -> None:
    if errors:
        put("errors")
    for error in errors:
        who = "" if error["worker"] is None else f" on {one_line(error['worker'])}"
        put(f"  attempt {error['attempt']} at {error['at']}{who}")
        _put_indented(error["text"], 4)
        if error["traceback"] is not None:
            _put_indented(error["traceback"], 6)


def _put_logs(logs: Sequence[Mapping[str, Any]]) -> None:
    if logs:
        put("logs")
    for line in logs:
        put(f"  {line['at']} {one_line(line['text'])}")


def _put_indented(text: str, spaces: int) -> None:
    # Line by line, so that a newline inside stays visible as part of the indented block.
    for line in text.rstrip("\n").split("\n"):
        put(" " * spaces + one_line(line))
