"""From an error to an exit code, one line that says what happened and one that says what to do."""

from __future__ import annotations

import os
import re
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from ferryman import errors
from ferryman.cli.output import say
from ferryman.queue.open import safe_url
from ferryman.telemetry.escape import without_credentials

if TYPE_CHECKING:
    from collections.abc import Sequence

_URL: Final = re.compile(r"[a-z][a-z0-9+.\-]*://.*", re.IGNORECASE | re.DOTALL)


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


def report(error: BaseException, words: Sequence[str] = ()) -> ExitCode:
    """Explain an error on standard error; returns the exit code that it means.

    `words` are those of the command line, which the error may repeat.
    """
    code, todo = _meaning(error)
    kind = "" if isinstance(error, errors.FerrymanError) else f"{type(error).__name__}: "
    say(f"ferryman: {kind}{without_passwords(str(error), words)}")
    if todo:
        say(f"  {without_passwords(todo, words)}")
    return code


def without_passwords(text: str, words: Sequence[str]) -> str:
    """`text` without the passwords of the URLs in it; those among `words` are known as a whole.

    Where a URL ends in a text can only be guessed, if its password is not percent-encoded.
    """
    for word in words:
        if found := _URL.search(word):
            safe = safe_url(found[0])
            # Messages quote a word as Python does, or not at all.
            text = text.replace(found[0], safe).replace(repr(found[0])[1:-1], safe)
    return without_credentials(text)


def debugging() -> bool:
    """Whether tracebacks are wanted: FERRYMAN_DEBUG=1."""
    return os.environ.get("FERRYMAN_DEBUG", "") not in ("", "0")


def _meaning(error: BaseException) -> tuple[ExitCode, str]:
    if isinstance(error, CommandFailed):
        return error.code, error.todo
    # Named here and not imported above: commands that never fail should not pay for them.
    from ferryman.service.config import InvalidSetting
    from ferryman.service.store import NoStoreYet

    meanings: Sequence[tuple[type[BaseException] | tuple[type[BaseException], ...], ExitCode, str]]
    meanings = (
        (
            NoStoreYet,
            ExitCode.BACKEND,
            "push a job or start a worker to make one, or name another store with --url",
        ),
        (errors.JobNotFound, ExitCode.NOT_FOUND, "`ferryman jobs list` shows what is there"),
        (errors.NotFound, ExitCode.NOT_FOUND, ""),
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
