"""Asks before something is done that cannot be undone."""

from __future__ import annotations

import sys

from ferryman.cli.failures import CommandFailed, ExitCode


def confirm(what: str, *, yes: bool) -> None:
    """Go on only if `--yes` was given or a person at a terminal agrees; else exit code 4.

    `what` completes "This will …", such as "delete 3 jobs".
    """
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise CommandFailed(
            f"this would {what}; nothing was done", "add --yes to do it", ExitCode.REFUSED
        )
    sys.stderr.write(f"This will {what}. Go on? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise CommandFailed("nothing was done", code=ExitCode.REFUSED)
