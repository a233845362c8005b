"""Scripts by chance: mixes of every verb that make sense, from a seed."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from chaos.disk.steps import (
    LEASE,
    WORKER,
    Stage,
    heartbeat,
    lost_reply,
    message,
    operate,
    passes,
    poll,
    purge,
    push,
    reap,
    settle,
)
from ferryman import State
from ferryman.backends.memory.backend import MemoryBackend
from ferryman.filter import Filter
from ferryman.job import TERMINAL
from ferryman.lifecycle import Verdict
from ferryman.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable

    from chaos.disk.steps import Step
    from ferryman import Job, Message


def script(seed: int, length: int = 14) -> list[Step]:
    """So many steps; each is chosen by what the steps before it left, as the reference says."""
    return _Writer(Random(seed)).write(length)  # noqa: S311


class _Writer:
    def __init__(self, chance: Random) -> None:
        self._chance = chance
        clock = FakeClock()
        self._stage = Stage(MemoryBackend(clock), clock)
        self._names = iter(f"job{number}" for number in range(1_000))

    def write(self, length: int) -> list[Step]:
        steps: list[Step] = []
        while len(steps) < length:
            step = self._next()
            if step is not None:
                step.do(self._stage)
                steps.append(step)
        return steps

    def _next(self) -> Step | None:
        jobs = self._stage.backend.list(Filter(), limit=1_000).jobs
        kinds: list[tuple[int, Callable[[tuple[Job, ...]], Step | None]]] = [
            (5 if len(jobs) < 8 else 1, self._push),
            (4, lambda _: poll(self._chance.choice((1, 10)) if len(jobs) < 2 else 10)),
            (7, self._settle),
            (3, self._operate),
            (1, lambda _: heartbeat(percent=50.0, checkpoint='{"page":7}')),
            (1, lambda _: passes(self._chance.choice((5.0, LEASE + 1)))),
            (1, lambda _: reap()),
            (1, lambda _: lost_reply() if self._chance.random() < 0.3 else None),
            (1, lambda _: purge("scan") if self._chance.random() < 0.2 else None),
        ]
        weights = [weight for weight, _ in kinds]
        return self._chance.choices(kinds, weights)[0][1](jobs)

    def _push(self, jobs: tuple[Job, ...]) -> Step:
        if jobs and self._chance.random() < 0.15:
            # The same id once more, now and then with another body.
            known = self._chance.choice(jobs).id
            body = self._chance.choice(({"of": known}, {"of": "another"}))
            return push(message(known, payload=body, replace=True))
        count = self._chance.choice((1, 1, 2, 3))
        # Not one key twice: between two messages of a push the power may be lost, and the course
        # knows only what a whole push leaves.
        keys = ["red", "blue"]
        self._chance.shuffle(keys)
        return push(*(self._message(keys) for _ in range(count)))

    def _message(self, keys: list[str]) -> Message:
        options: dict[str, object] = {"priority": self._chance.choice((0, 0, 10))}
        if keys and self._chance.random() < 0.2:
            options["key"] = keys.pop()
            options["unique"] = self._chance.choice(("unfinished", "waiting", "replace"))
        if self._chance.random() < 0.1:
            options["delay"] = 30.0
        return message(next(self._names), self._chance.choice(("mail", "scan")), **options)

    def _settle(self, jobs: tuple[Job, ...]) -> Step | None:
        held = [job.id for job in jobs if job.state is State.PROCESSING and job.worker == WORKER]
        if not held:
            return None
        chosen = self._chance.sample(held, self._chance.randint(1, len(held)))
        verdict = self._chance.choice([Verdict.ACK] * 4 + [Verdict.NACK, Verdict.NACK, *_OTHERS])
        if verdict is Verdict.ACK:
            return settle(verdict, *chosen, children=self._chance.choice((0, 0, 1, 2)))
        return settle(verdict, *chosen)

    def _operate(self, jobs: tuple[Job, ...]) -> Step | None:
        verb = self._chance.choice(tuple(_FITTING))
        fitting = [job.id for job in jobs if job.state in _FITTING[verb]]
        return operate(verb, self._chance.choice(fitting)) if fitting else None


_OTHERS = (Verdict.FAIL, Verdict.GIVE_BACK, Verdict.CANCEL)
_FITTING = {
    "cancel": {State.PENDING, State.PAUSED, State.PROCESSING},
    "pause": {State.PENDING, State.PROCESSING},
    "resume": {State.PAUSED},
    "retry": TERMINAL,
    "delete": {State.PENDING, State.PAUSED, *TERMINAL},
}
