"""From an error to an exit code, one line that says what happened and one that says what to do."""

from __future__ import annotations

import os
from enum import IntEnum
from typing import TYPE_CHECKING

from ferryman import errors
from ferryman.cli.output import say
from ferryman.telemetry.escape import without_credentials

if TYPE_CHECKING:
    from collections.abc import Sequence


class ExitCode(IntEnum):
    """What a script can rely on."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    NOT_FOUND = 3
    REFUSED = 4
    BACKEND = 5
    INTERRUPTED = 130


class CommandFailed(errors.FerrymanError):
    """A command cannot go on: what happened, what to do about it, and the exit code."""

    def __init__(self, what: str, todo: str = "", code: ExitCode = ExitCode.FAILURE) -> None:
        super().__init__(what)
        self.todo = todo
        self.code = code


def report(error: BaseException) -> ExitCode:
    """Explain an error on standard error; returns the exit code that it means."""
    code, todo = _meaning(error)
    if isinstance(error, errors.FerrymanError):
        say(f"ferryman: {without_credentials(str(error))}")
    else:
        say(f"ferryman: {type(error).__name__}: {without_credentials(str(error))}")
    if todo:
        say(f"  {todo}")
    return code


def debugging() -> bool:
    """Whether tracebacks are wanted: FERRYMAN_DEBUG=1."""
    return os.environ.get("FERRYMAN_DEBUG", "") not in ("", "0")


def _meaning(error: BaseException) -> tuple[ExitCode, str]:
    if isinstance(error, CommandFailed):
        return error.code, error.todo
    # Named here and not imported above: commands that never fail should not pay for them.
    from ferryman.flow.timetable import ScheduleNotFound
    from ferryman.service.api_keys import KeyNotFound
    from ferryman.service.config import InvalidSetting
    from ferryman.service.insights import QueueNotFound
    from ferryman.service.limits import BreakerNotFound
    from ferryman.service.runs import RunNotFound
    from ferryman.service.store import NoStoreYet

    meanings: Sequence[tuple[type[BaseException] | tuple[type[BaseException], ...], ExitCode, str]]
    meanings = (
        (
            NoStoreYet,
            ExitCode.BACKEND,
            "push a job or start a worker to make one, or name another store with --url",
        ),
        (errors.JobNotFound, ExitCode.NOT_FOUND, "`ferryman jobs list` shows what is there"),
        (
            (QueueNotFound, BreakerNotFound, ScheduleNotFound, KeyNotFound),
            ExitCode.NOT_FOUND,
            "",
        ),
        (RunNotFound, ExitCode.NOT_FOUND, "`ferryman runs list` shows what is there"),
        (
            (
                errors.InvalidMessage,
                errors.InvalidFilter,
                errors.InvalidView,
                InvalidSetting,
                errors.TaskError,
            ),
            ExitCode.USAGE,
            "",
        ),
        (
            (errors.NotAllowed, errors.Conflict, errors.QueueFull, errors.Unsupported),
            ExitCode.REFUSED,
            "",
        ),
        (
            errors.BackendUnavailable,
            ExitCode.BACKEND,
            "check that the store is up and that --url or FERRYMAN_URL names it; then try again",
        ),
        (errors.BackendError, ExitCode.BACKEND, "check --url or FERRYMAN_URL"),
        (errors.FerrymanError, ExitCode.FAILURE, ""),
    )
    for kinds, code, todo in meanings:
        if isinstance(error, kinds):
            return code, todo
    return ExitCode.FAILURE, "run it again with FERRYMAN_DEBUG=1 to see where this comes from"
