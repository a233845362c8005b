"""One campaign: faults by plan, then healing, then the evidence."""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Final

from chaos.broken import broken_url
from chaos.cast import COURIERS, EVERYONE, OPERATOR, PRODUCERS, WORKERS
from chaos.courier import carry
from chaos.crew import Crew
from chaos.evidence import Evidence, holdings
from chaos.healing import heal
from chaos.operators import operate
from chaos.producer import produce
from chaos.scene import Scene
from chaos.strikes import Strikes
from chaos.worker import work
from ferryman.queue.open import BACKENDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from chaos.plan import Plan
    from chaos.progress import Progress
    from chaos.stores import Store

_BODIES: Final = {
    **dict.fromkeys(PRODUCERS, produce),
    **dict.fromkeys(WORKERS, work),
    **dict.fromkeys(COURIERS, carry),
    OPERATOR: operate,
}
_MAY_END: Final = (*PRODUCERS, OPERATOR)
_SCRIPTS_END: Final = 60.0
_DRAIN: Final = 10.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a campaign was and what it left. `story` tells all that is known of a job."""

    evidence: Evidence
    strikes: Strikes
    seconds: float
    story: Callable[[str], Sequence[str]]


def run(
    plan: Plan, store: Store, folder: Path, progress: Progress, broken: str | None = None
) -> Outcome:
    """Carry out a plan in a fresh folder. `broken` names a build that is broken on purpose."""
    url = store.url(folder)
    _warm(url)
    opened = url if broken is None else broken_url(broken, url)
    scene = Scene(folder, opened, plan, time.monotonic())
    bodies = {name: partial(body, scene, name) for name, body in _BODIES.items()}
    crew = Crew(bodies, _MAY_END, folder / "errors.txt")
    try:
        for name in EVERYONE:
            crew.start(name)
        strikes = Strikes(scene, crew, progress)
        strikes.run()
        if not crew.wait(_MAY_END, _SCRIPTS_END):
            crew.troubles.append("producers or operator did not come to the end of their scripts")
        heal(url, progress)
        crew.drain([*WORKERS, *COURIERS], _DRAIN)
    finally:
        crew.close()
    found = holdings(url)
    troubles = [*crew.troubles, *store.inspect(folder)]
    evidence = Evidence.of(plan, scene.records(), found, troubles)
    return Outcome(evidence, strikes, scene.now, scene.story)


def _warm(url: str) -> None:
    """Import what the children will need, and keep the collector from touching shared pages."""
    import_module(BACKENDS[url.partition(":")[0]][0])
    gc.collect()
    gc.freeze()
