"""A member of the cast that cancels, pauses, resumes and retries, as planned."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING

from chaos.opening import opened
from chaos.records import Acted, Asked
from ferryman import BackendUnavailable

if TYPE_CHECKING:
    from chaos.acts import Act
    from chaos.scene import Scene
    from ferryman.queue.contract import Backend


def operate(scene: Scene, name: str) -> int:
    """Carry out what is left of the acts. One whose answer a kill cut off is done again."""
    journal = scene.journal(name)
    done = [record.step for record in journal.read() if isinstance(record, Acted)]
    with closing(opened(scene.url(name))) as backend:
        for step in range(max(done, default=-1) + 1, len(scene.plan.acts)):
            act = scene.plan.acts[step]
            scene.wait_for(act.at)
            journal.write(Asked(step, act.verb, act.target, time.time()))
            state = _carry_out(backend, act)
            journal.write(Acted(step, act.verb, act.target, state, time.time()))
    return 0


def _carry_out(backend: Backend, act: Act) -> str | None:
    """The job's state after the act; None: refused, or an act on a queue."""
    while True:
        try:
            if act.verb.endswith("_queue"):
                getattr(backend, act.verb)(act.target)
                return None
            (acted,) = getattr(backend, act.verb)([act.target])
        except BackendUnavailable:
            continue
        return None if acted.refused else str(acted.state)
