"""Moves from one store to another: what is in both of them, and which jobs go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from unittest.mock import patch

from chaos.disk.scenes import ACK, FAIL, LATE, NACK
from chaos.disk.steps import Stage, message, operate, passes, poll, push, queue_act, settle
from ferryman.filter import Filter
from ferryman.service.move import move, moving

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chaos.disk.steps import Step
    from ferryman.queue.contract import Backend
    from ferryman.service.move import Carried
    from ferryman.testing import FakeClock

Pair = tuple["Backend", "Backend"]
PAGE: Final = 5
"""Jobs a page, so that a crash falls also between two of them."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """The steps that fill the source and the target undisturbed; a crash comes in the move.

    `together`: so many new files are made durable by one sync. `claimed`: jobs run at the source,
    and a claim does not outlast the power.
    """

    name: str
    here: Sequence[Step]
    there: Sequence[Step] = ()
    where: str = ""
    together: int | None = None
    claimed: bool = False

    def fill(self, opened: Callable[[int], Backend], clock: FakeClock) -> list[Backend]:
        """Play what was before; a target in which nothing was is not made yet."""
        stages = []
        for side, steps in enumerate((self.here, self.there)):
            if steps:
                stages.append(Stage(opened(side), clock))
                for step in steps:
                    step.do(stages[-1])
        return [stage.backend for stage in stages]

    def move(self, stores: Pair) -> Carried:
        """The act itself."""
        with patch.object(moving, "PAGE", PAGE):
            return move(*stores, Filter.parse(self.where))


def _failed(job_id: str) -> list[Step]:
    """Two attempts, two errors."""
    tried = [poll(1, "mail"), settle(NACK, job_id), passes(10)]
    return [push(message(job_id)), *tried, *tried]


PARENT = [push(message("done")), poll(1, "mail"), settle(ACK, "done", children=2)]
RETRIED = [
    push(message("again")),
    poll(1, "mail"),
    settle(FAIL, "again"),
    operate("retry", "again"),
]
NACKED = [push(message("nacked", "scan")), poll(1, "scan"), settle(NACK, "nacked")]
STOPPED = [
    push(message("off"), message("held")),
    operate("cancel", "off"),
    operate("pause", "held"),
]
WAITING = push(
    message("due", priority=10), message("later", delay=90.0), message("keyed", "scan", key="once")
)
EVERY_STATE = [
    *PARENT,
    *_failed("failed"),
    *RETRIED,
    *NACKED,
    *STOPPED,
    WAITING,
    queue_act("pause_queue", "scan"),
]
RUNNING = [
    push(message("died"), message("spent", max_attempts=1), message("due", "scan")),
    poll(2, "mail"),
    LATE,
    push(message("runs")),
    poll(1, "mail"),
]

KNOWN_HERE = [
    *PARENT,
    *_failed("outdated"),
    push(message("copied"), message("ahead"), message("other"), message("keyed", key="once")),
]
KNOWN_THERE = [
    push(message("ahead")),
    poll(1, "mail"),
    settle(ACK, "ahead"),
    push(message("copied"), message("outdated"), message("theirs", "scan")),
    push(message("other", payload={"of": "another"}), message("holder", key="once")),
    queue_act("pause_queue", "mail"),
]

CROSSINGS: Final = (
    Crossing("move every state", EVERY_STATE),
    Crossing("move what failed", EVERY_STATE, where="state:failed"),
    Crossing("move a queue", [*PARENT, *NACKED, WAITING], where="queue:mail"),
    Crossing("move a batch", [push(*map(message, "abcd"))], together=2),
    Crossing("move what a dead worker held", RUNNING, claimed=True),
    Crossing("move what the target knows", KNOWN_HERE, KNOWN_THERE),
)
