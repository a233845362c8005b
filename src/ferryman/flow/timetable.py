"""The schedules of a store: what was declared, up to which slot it was pushed, what is paused."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ferryman.errors import BackendRejected, NameNotFound, Unsupported
from ferryman.events import Events
from ferryman.flow.schedule import AT_ONCE, Schedule
from ferryman.ids import new_id
from ferryman.queue.cell import read_cell

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from ferryman.queue.answers import Cell, Pushed
    from ferryman.queue.contract import Backend

CELLS: Final = "schedule/"


class ScheduleNotFound(NameNotFound):
    """No worker of this store has declared a schedule of this name."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        problem = f"no schedule {name!r} in this store"
        there = "`ferryman schedules list` shows those that workers have declared"
        super().__init__(problem, name, known, there)


@dataclass(frozen=True, slots=True)
class Entry:
    """A schedule as the store holds it. `last` is the latest slot that is settled; it only grows.

    `version` is the cell's, 0 for an entry that is not written yet.
    """

    schedule: Schedule
    last: float
    paused: bool = False
    version: int = 0

    def next(self, now: float) -> float | None:
        """The slot to come; None while it is paused."""
        return None if self.paused else next(self.schedule.slots.after(max(self.last, now)), None)


class Timetable:
    """Pushes what is due, from any number of workers at once.

    A slot is pushed before it is recorded as settled, so that no crash can lose it. To push it
    twice is harmless: its id is made of the schedule and the slot.
    """

    def __init__(self, backend: Backend, events: Events | None = None) -> None:
        if not backend.capabilities.cells:
            raise Unsupported(
                f"{backend.capabilities.backend}: schedules need a store that can share small "
                "values: add ?ledger= with a database, or push from a cron of your own"
            )
        self._backend = backend
        self._events = events or Events()
        self._unreadable: set[str] = set()

    def entries(self) -> Sequence[Entry]:
        """Every schedule that was ever declared here, by name."""
        return [_read(cell) for cell in self._backend.read_cells(CELLS)]

    def entry(self, name: str) -> Entry:
        """One of them; `ScheduleNotFound` if it was never declared."""
        entry = self._find(name)
        if entry is None:
            raise ScheduleNotFound(name, [each.schedule.name for each in self.entries()])
        return entry

    def declare(self, schedule: Schedule) -> None:
        """Take a schedule up, or change it; slots from before are not made up for.

        One that a newer version has declared is left as it is.
        """
        while True:
            try:
                known = self._find(schedule.name)
            except BackendRejected as error:
                self._cannot_read(schedule.name, error)
                return
            now = self._backend.clock.now()
            if known is None:
                entry = Entry(schedule, now)
            elif known.schedule.described() == schedule.described():
                return
            elif known.schedule.slots == schedule.slots:
                entry = replace(known, schedule=schedule)
            else:
                entry = replace(known, schedule=schedule, last=max(known.last, now))
            if self._write(entry):
                return

    def push_due(self, names: Collection[str]) -> float | None:
        """Push the due slots of these schedules; when the next one is due.

        By what the store holds, so that workers of two versions agree: the last one that declared
        a schedule has decided.
        """
        cells = self._backend.read_cells(CELLS)
        chosen = [cell for cell in cells if cell.key.removeprefix(CELLS) in names]
        nexts = [self._push_cell(cell) for cell in chosen]
        return min((moment for moment in nexts if moment is not None), default=None)

    def run(self, name: str) -> Pushed:
        """Push one job of a schedule now, besides its slots."""
        message = replace(self.entry(name).schedule.message, id=new_id())
        return self._backend.push([message])[0]

    def pause(self, name: str) -> Entry:
        """Push no slots until `resume`; jobs that were pushed stay."""
        return self._change(name, lambda entry: replace(entry, paused=True))

    def resume(self, name: str) -> Entry:
        """Go on with the next slot; those of the pause are not made up for."""

        def resumed(entry: Entry) -> Entry:
            last = max(entry.last, self._backend.clock.now()) if entry.paused else entry.last
            return replace(entry, paused=False, last=last)

        return self._change(name, resumed)

    def _push_cell(self, cell: Cell) -> float | None:
        try:
            entry = _read(cell)
        except BackendRejected as error:
            self._cannot_read(cell.key.removeprefix(CELLS), error)
            return None
        return None if entry.paused else self._push(entry)

    def _cannot_read(self, name: str, error: BackendRejected) -> None:
        """It was declared by a newer version, whose workers push it."""
        if name not in self._unreadable:
            self._unreadable.add(name)
            self._events.emit("schedule.unreadable", schedule=name, error=error)

    def _push(self, entry: Entry) -> float | None:
        now = self._backend.clock.now()
        schedule = entry.schedule
        slots = schedule.due(entry.last, now)
        if slots:
            pushed = self._backend.push([schedule.job(slot) for slot in slots])
            # Refused where another worker was here too, or somebody paused it meanwhile.
            self._write(replace(entry, last=slots[-1]))
            for slot, one in zip(slots, pushed, strict=True):
                if one.created:
                    name = schedule.name
                    self._events.emit("schedule.pushed", schedule=name, slot=slot, id=one.id)
        return now if len(slots) == AT_ONCE else entry.next(now)

    def _find(self, name: str) -> Entry | None:
        cell = read_cell(self._backend, CELLS + name)
        return None if cell is None else _read(cell)

    def _change(self, name: str, change: Callable[[Entry], Entry]) -> Entry:
        while True:
            entry = change(self.entry(name))
            if self._write(entry):
                return entry

    def _write(self, entry: Entry) -> bool:
        value = {**entry.schedule.described(), "last": entry.last, "paused": entry.paused}
        key = CELLS + entry.schedule.name
        written = self._backend.write_cell(key, json.dumps(value), expect=entry.version)
        return written is not None


def _read(cell: Cell) -> Entry:
    name = cell.key.removeprefix(CELLS)
    try:
        found = json.loads(cell.value)
        return Entry(Schedule.read(name, found), found["last"], found["paused"], cell.version)
    except (KeyError, TypeError, ValueError) as error:
        raise BackendRejected(
            f"the schedule {name!r} of this store cannot be read here ({error}): upgrade Ferryman, "
            "and see that both machines know its time zone"
        ) from error
