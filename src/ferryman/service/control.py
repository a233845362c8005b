"""Acts: what the command line, the API and the dashboard do to a store."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from ferryman.errors import (
    Conflict,
    FerrymanError,
    InvalidFilter,
    JobNotFound,
    NotAllowed,
    QueueFull,
    TaskError,
)
from ferryman.flow.breakers import BREAKER_CELLS
from ferryman.flow.timetable import Timetable
from ferryman.job import TERMINAL, WAITING
from ferryman.lifecycle import Act, act
from ferryman.message import MAX_NAME, Message, check_name, encode
from ferryman.queue.capacity import NO_LIMITS
from ferryman.service.insights import Insights
from ferryman.service.limits import BreakerNotFound
from ferryman.tasks.options import DEFAULT_PRIORITIES, Options

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from ferryman.flow.capacity import Capacities
    from ferryman.flow.timetable import Entry
    from ferryman.job import Job, State
    from ferryman.queue.answers import Acted, Pushed
    from ferryman.queue.capacity import Limits
    from ferryman.queue.contract import Backend
    from ferryman.service.limits import BreakerRow
    from ferryman.tasks.tasks import Tasks

MIN_HISTORY: Final = 86_400.0
"""Seconds: nothing younger is pruned, so that ids stay known."""
PRUNE_BATCH: Final = 1_000


@dataclass(frozen=True, slots=True)
class Bulk:
    """What an act on many jobs came to: `matched` = `done` + `refused`."""

    matched: int = 0
    done: int = 0
    refused: int = 0

    def plus(self, acted: Sequence[Acted]) -> Bulk:
        refused = sum(one.refused is not None for one in acted)
        return Bulk(
            self.matched + len(acted), self.done + len(acted) - refused, self.refused + refused
        )


@dataclass(frozen=True, slots=True)
class Preview:
    """How many jobs match a filter, and how many of them are in a state that allows the act."""

    matched: int
    allowed: int


class OutOfReach(FerrymanError):
    """Whoever asks is confined to other queues."""

    def __init__(self, queue: str, only: Collection[str]) -> None:
        super().__init__(f"queue {queue!r} is out of reach: this is confined to {sorted(only)}")


class Control:
    """Acts on one store. With an app's `tasks`, pushes take their defaults and are checked.

    `capacities` hold where they are known; `only` confines all acts to some queues.
    """

    def __init__(
        self,
        backend: Backend,
        tasks: Tasks | None = None,
        capacities: Capacities | None = None,
        *,
        only: Collection[str] | None = None,
    ) -> None:
        self._backend = backend
        self._tasks = tasks
        self._capacities = capacities
        self._only = only
        self._insights = Insights(backend, only)
        self._verbs: Mapping[Act, Callable[[Sequence[str]], Sequence[Acted]]] = {
            Act.CANCEL: backend.cancel,
            Act.PAUSE: backend.pause,
            Act.RESUME: backend.resume,
            Act.RETRY: backend.retry,
            Act.DELETE: backend.delete,
        }

    # -- jobs

    def push(
        self, task: str, payload: Any = None, *, max_attempts: int | None = None, **options: Any
    ) -> Pushed:
        """Hand over a job by its task's name; options are those of `ferryman.Options`.

        Without the app's tasks the queue is named like the task unless `queue` says otherwise.
        `Conflict` if the id belongs to a job with another body.
        """
        message = self.message(task, payload, max_attempts=max_attempts, **options)
        pushed = self.push_many([message])
        if (refusal := self.refusal([message], pushed)) is not None:
            raise refusal
        return pushed[0]

    def message(
        self, task: str, payload: Any = None, *, max_attempts: int | None = None, **options: Any
    ) -> Message:
        """What `push` would hand over, checked."""
        message = self._message(task, payload, options)
        return message if max_attempts is None else replace(message, max_attempts=max_attempts)

    def push_many(self, messages: Sequence[Message]) -> Sequence[Pushed]:
        """Hand over jobs, each by itself; those refused are `conflict`, `full` or `tenant full`.

        `OutOfReach` before anything is written.
        """
        for message in messages:
            self._reach(message.queue)
        return self._backend.push(messages, limits=self._limits(messages))

    def refusal(
        self, messages: Sequence[Message], pushed: Sequence[Pushed]
    ) -> Conflict | QueueFull | None:
        """What to raise for the answers of `push_many`; None where all were accepted."""
        if refused := tuple(one.id for one in pushed if one.status == "conflict"):
            others = f"; the other {len(pushed) - len(refused)} were accepted"
            return Conflict(
                f"job {refused[0]!r} exists with another body"
                f"{others if len(pushed) > 1 else ''}: use another id",
                ids=refused,
            )
        if self._capacities is None or not self._limits(messages):
            return None
        return self._capacities.refused(messages, pushed)

    def act(self, verb: Act, job_id: str) -> Acted:
        """Do one act to one job, or raise `JobNotFound` or `NotAllowed` with the reason."""
        if self._only is not None:
            self._insights.job(job_id)
        acted = self._verbs[verb]([job_id])[0]
        if acted.state is None:
            raise JobNotFound(job_id)
        if acted.refused is not None:
            raise NotAllowed(acted.refused)
        return acted

    def act_on(self, verb: Act, ids: Sequence[str]) -> Sequence[Acted]:
        """Do one act to several jobs; refusals are in the answers, in the order of the ids."""
        return self._verbs[verb](ids)

    def act_where(self, verb: Act, where: str) -> Bulk:
        """Do one act to every job that matches; the backend checks each again as it acts."""
        bulk = Bulk()
        for jobs in self._insights.walk(_some_filter(where)):
            bulk = bulk.plus(self._verbs[verb]([job.id for job in jobs]))
        return bulk

    def preview(self, verb: Act, where: str) -> Preview:
        """What `act_where` would find now."""
        matched = allowed = 0
        for jobs in self._insights.walk(_some_filter(where)):
            matched += len(jobs)
            allowed += sum(_allows(verb, job) for job in jobs)
        return Preview(matched, allowed)

    def prune(
        self, *, older_than: float, states: Collection[State] = (), keep: int | None = None
    ) -> int:
        """Delete all finished jobs that ended over `older_than` seconds ago; how many."""
        return sum(self.pruning(older_than=older_than, states=states, keep=keep))

    def pruning(
        self, *, older_than: float, states: Collection[State] = (), keep: int | None = None
    ) -> Iterator[int]:
        """`prune` batch by batch: how many each one deleted. To stop in between is harmless."""
        while pruned := self._backend.prune(
            older_than=older_than, states=states, keep=keep, limit=PRUNE_BATCH
        ):
            yield pruned

    def prunable(
        self, *, older_than: float, states: Collection[State] = (), keep: int | None = None
    ) -> int:
        """How many jobs `prune` would delete now."""
        chosen = TERMINAL & frozenset(states) if states else TERMINAL
        # The states are compared here: only what has ended is `finished`, and one condition is
        # answered in push order, where two may make a store sort its history for each page.
        old = self._insights.walk(f"finished:>{older_than:.6f}s")
        count = sum(job.state in chosen for jobs in old for job in jobs)
        if keep is None:
            return count
        totals = self._insights.overview().totals
        return min(count, max(0, sum(totals[state] for state in chosen) - keep))

    # -- queues

    def pause_queue(self, queue: str) -> None:
        """Stop claims from a queue, which may still be without jobs."""
        check_name("queue", queue, MAX_NAME)
        self._reach(queue)
        self._backend.pause_queue(queue)

    def resume_queue(self, queue: str) -> None:
        """Allow claims again; `QueueNotFound` for one that is neither paused nor has jobs."""
        self._insights.queue(queue)
        self._backend.resume_queue(queue)

    def purge(self, queue: str) -> int:
        """Delete a queue's pending and paused jobs; how many. `QueueNotFound` if it has no jobs."""
        self._insights.queue(queue)
        return self._backend.purge(queue)

    def purgeable(self, queue: str) -> int:
        """How many jobs `purge` would delete now."""
        states = self._insights.queue(queue).states
        return sum(states.get(state, 0) for state in WAITING)

    # -- limits of all workers

    def reset_breaker(self, name: str) -> BreakerRow:
        """Close a breaker and forget its failures; how it stood. `BreakerNotFound` if unknown."""
        rows = {row.name: row for row in self._insights.breakers()}
        if name not in rows:
            raise BreakerNotFound(name, list(rows))
        self._backend.write_cell(BREAKER_CELLS + name, None, expect=None)
        return rows[name]

    # -- schedules

    def pause_schedule(self, name: str) -> Entry:
        """Push no slots of a schedule until it is resumed; `ScheduleNotFound` without one."""
        return Timetable(self._backend).pause(name)

    def resume_schedule(self, name: str) -> Entry:
        """Go on with a schedule's next slot; those of the pause are not made up for."""
        return Timetable(self._backend).resume(name)

    def run_schedule(self, name: str) -> Pushed:
        """Push one job of a schedule now, besides its slots."""
        return Timetable(self._backend).run(name)

    def _limits(self, messages: Sequence[Message]) -> Limits:
        return NO_LIMITS if self._capacities is None else self._capacities.limits(messages)

    def _reach(self, queue: str) -> None:
        if self._only is not None and queue not in self._only:
            raise OutOfReach(queue, self._only)

    def _message(self, task: str, payload: Any, options: Mapping[str, Any]) -> Message:
        if self._tasks is None:
            fields = Options(queue=task).using(**options).fields(DEFAULT_PRIORITIES)
            return Message(task=task, body=encode(payload), **fields)
        known = self._tasks.get(task)
        if known is None:
            names = [one.name for one in self._tasks]
            close = get_close_matches(task, names, 1)
            hint = (
                f"did you mean {close[0]!r}?" if close else f"it has {', '.join(names) or 'none'}"
            )
            raise TaskError(f"the app declares no task {task!r}: {hint}")
        return known.message_of(payload, **options)


def _allows(verb: Act, job: Job) -> bool:
    try:
        act(job.state, verb, job.id)
    except NotAllowed:
        return False
    return True


def _some_filter(where: str) -> str:
    # An unset shell variable must not become "every job".
    if not where.strip():
        raise InvalidFilter("an empty filter would match every job: name at least one condition")
    return where
