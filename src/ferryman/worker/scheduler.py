"""Pushes the slots of the schedules that this worker's app declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ferryman.flow.timetable import Timetable
from ferryman.worker.loop import Loop

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ferryman.events import Events
    from ferryman.flow.schedule import Schedule
    from ferryman.queue.contract import Backend

LOOK_EVERY: Final = 5.0
"""Seconds: a clock may step and a schedule be resumed, so nobody sleeps until the next slot."""


class Scheduler(Loop):
    """Declares the schedules, then sleeps from slot to slot. Without any it is never started."""

    name = "scheduler"

    def __init__(
        self,
        backend: Backend,
        schedules: Sequence[Schedule],
        *,
        events: Events,
        died: Callable[[str, BaseException], None],
    ) -> None:
        super().__init__(events, died)
        self._clock = backend.clock
        self._undeclared = list(schedules)
        self._names = {schedule.name for schedule in schedules}
        self._timetable = Timetable(backend, events) if schedules else None

    def start(self) -> None:
        if self._timetable is not None:
            super().start()

    def turn(self) -> float:
        """Push what is due; how many seconds there will be nothing."""
        assert self._timetable is not None  # noqa: S101 - not started without schedules
        while self._undeclared:
            self._timetable.declare(self._undeclared[-1])
            self._undeclared.pop()
        upcoming = self._timetable.push_due(self._names)
        if upcoming is None:
            return LOOK_EVERY
        return min(LOOK_EVERY, max(0.01, upcoming - self._clock.now()))
