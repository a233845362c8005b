"""What an operator does meanwhile, to a share of the jobs and now and then to a queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from chaos.cast import HANDOFF, ROUGH, SWIFT

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator

    from chaos.script import Push

_SHARE: Final = 0.1
_QUEUE_EVERY: Final = 6.0

# verbs, each with the seconds after the push (or the verb before it) from which it is drawn
_STORIES: Final = (
    (("cancel", 0.0, 0.4),),
    (("cancel", 0.0, 0.2), ("retry", 0.3, 1.0)),
    (("pause", 0.0, 0.3), ("resume", 0.2, 1.0)),
    (("pause", 0.0, 0.3), ("cancel", 0.1, 0.5), ("retry", 0.1, 0.5)),
    (("retry", 0.5, 2.0),),
    (("retry", 0.3, 1.0), ("retry", 0.3, 1.0)),
)


@dataclass(frozen=True, slots=True)
class Act:
    """At `at` seconds: an operator's verb on a job or, for the `_queue` verbs, on a queue."""

    at: float
    verb: str
    target: str


def acts(
    chance: random.Random, pushes: Iterable[Push], seconds: float, stretch: float
) -> Iterator[Act]:
    """Acts in order of time."""
    found = [*_on_jobs(chance, pushes, stretch), *_on_queues(chance, seconds, stretch)]
    return iter(sorted(found, key=lambda act: act.at))


def _on_jobs(chance: random.Random, pushes: Iterable[Push], stretch: float) -> Iterator[Act]:
    for push in pushes:
        for message in push.messages:
            if message.id is None or chance.random() >= _SHARE:
                continue
            at = push.at
            for verb, low, high in chance.choice(_STORIES):
                at += chance.uniform(low, high) * stretch
                yield Act(at, verb, message.id)


def _on_queues(chance: random.Random, seconds: float, stretch: float) -> Iterator[Act]:
    at = chance.uniform(0.5, 2.0)
    while at < seconds:
        queue = chance.choice([SWIFT, ROUGH, HANDOFF])
        yield Act(at, "pause_queue", queue)
        yield Act(at + chance.uniform(0.3, 1.0) * stretch, "resume_queue", queue)
        at += chance.uniform(0.5, 1.5) * _QUEUE_EVERY * stretch
