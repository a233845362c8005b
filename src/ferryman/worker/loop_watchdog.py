"""Notices that a handler blocks the event loop, and shows where."""

from __future__ import annotations

import asyncio
import sys
import sysconfig
import time
import traceback
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ferryman.worker.loop import Loop

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ferryman.events import Events
    from ferryman.job import Job
    from ferryman.worker.event_loop import EventLoopThread


class LoopWatchdog(Loop):
    """Knocks at the event loop while coroutines run, and sleeps otherwise.

    No answer within `patience` seconds is `loop.blocked`, once for each blockage, with the job and
    the stack; when the answer comes, `loop.freed`. The stack is built in Python, because
    faulthandler can freeze the process that it looks at.
    """

    name = "watchdog"

    def __init__(
        self,
        loop: EventLoopThread,
        worker: str,
        *,
        patience: float,
        job_of: Callable[[asyncio.Task[Any] | None], Job | None],
        events: Events,
        died: Callable[[str, BaseException], None],
    ) -> None:
        super().__init__(events, died)
        self._loop = loop
        self._worker = worker
        self._silence = patience
        self._job_of = job_of
        self._knock: _Knock | None = None
        self._told = False
        self._asleep = False
        loop.began = self._look

    def turn(self) -> float:
        knock = self._knock
        if knock is None or knock.heard():
            return self._knock_again(knock)
        waited = time.monotonic() - knock.at
        if waited >= self._silence and not self._told:
            self._told = True
            self._tell(waited)
        if not self._told:
            return self._silence - waited
        # Whoever answers now wakes us up; whoever did while we told may not have known.
        return 0.0 if knock.heard() else 60.0

    def _knock_again(self, before: _Knock | None) -> float:
        if self._told and before is not None and before.answered is not None:
            self._told = False
            seconds = before.answered - before.at
            self._events.emit("loop.freed", worker=self._worker, seconds=seconds)
        # Before we look for coroutines: one that begins later wakes us up.
        self._asleep, self._knock = True, None
        loop = self._loop.in_use
        if loop is None:
            return 60.0
        self._asleep = False
        self._knock = knock = _Knock(time.monotonic())
        loop.call_soon_threadsafe(self._answer, knock)
        return self._silence / 4

    def _answer(self, knock: _Knock) -> None:
        """On the loop, which is therefore free."""
        knock.answered = time.monotonic()
        if self._told:
            self.wake()

    def _look(self) -> None:
        """On the loop, for every coroutine that begins."""
        if self._asleep:
            self._asleep = False
            self.wake()

    def _tell(self, seconds: float) -> None:
        loop = self._loop.in_use
        if loop is None:
            return
        where, stack = _seen(self._loop.thread_id)
        self._events.emit(
            "loop.blocked",
            worker=self._worker,
            seconds=seconds,
            job=self._job_of(asyncio.current_task(loop)),
            where=where,
            stack=stack,
        )


@dataclass(slots=True)
class _Knock:
    at: float
    answered: float | None = None

    def heard(self) -> bool:
        return self.answered is not None


def _seen(thread_id: int | None) -> tuple[str, str]:
    """The innermost line of the user's code in that thread, and the stack from the handler on."""
    frame = sys._current_frames().get(thread_id or 0)
    frames: Sequence[traceback.FrameSummary] = traceback.extract_stack(frame) if frame else []
    theirs = [index for index, one in enumerate(frames) if _is_users(one.filename)]
    shown = frames[theirs[0] :] if theirs else frames
    if not shown:
        return "an unknown place", ""
    innermost = frames[theirs[-1]] if theirs else frames[-1]
    where = f"{innermost.filename}:{innermost.lineno} in {innermost.name}"
    return where, "".join(traceback.format_list(list(shown)))


def _is_users(filename: str) -> bool:
    return not filename.startswith(_installed())


@cache
def _installed() -> tuple[str, ...]:
    """Where Python, installed packages and this package live; also `<frozen …>` code."""
    paths = sysconfig.get_paths()
    ours = str(Path(__file__).parents[1])
    return (*(paths[kind] for kind in ("stdlib", "platstdlib", "purelib", "platlib")), ours, "<")
