"""A member of the cast that pushes its script and knows, after a kill, what was acknowledged."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from chaos.opening import launched
from chaos.records import Pushed, Tried
from ferryman import BackendUnavailable, Ferry

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from chaos.journal import Journal
    from chaos.records import Record
    from chaos.scene import Scene
    from chaos.script import Push


def produce(scene: Scene, name: str) -> int:
    """Push what is left of the script, each step at its time."""
    journal = scene.journal(name)
    script = scene.plan.scripts[name]
    with launched(Ferry(scene.url(name))) as ferry:
        for step in range(next_step(journal.read(), script), len(script)):
            scene.wait_for(script[step].at)
            _push(ferry, journal, name, step, script[step])
    return 0


def next_step(records: Iterable[Record], script: Sequence[Push]) -> int:
    """Where the life before this one stopped.

    A step that was tried and not acknowledged happened or not: the script says whether this
    producer repeats it or leaves it at that.
    """
    tried, acknowledged = -1, -1
    for record in records:
        match record:
            case Tried(step=step):
                tried = step
            case Pushed(step=step):
                acknowledged = step
    unknown = tried > acknowledged
    return tried if unknown and script[tried].repeat else tried + 1


def _push(ferry: Ferry, journal: Journal, name: str, step: int, push: Push) -> None:
    messages = [planned.message() for planned in push.messages]
    journal.write(Tried(name, step))
    before = time.time()
    while True:
        try:
            handles = ferry.carry(messages)
        except BackendUnavailable:
            continue
        break
    for planned, message, handle in zip(push.messages, messages, handles, strict=True):
        earliest = before + message.delay if handle.created else 0.0
        journal.write(Pushed(step, handle.id, planned.token, earliest))
