"""One campaign: faults by plan, then healing, then the evidence."""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Final

from chaos.broken import broken_url
from chaos.cast import CARRIER
from chaos.courier import carry
from chaos.crew import Crew
from chaos.evidence import Evidence, disagreements, holdings
from chaos.healing import heal, tidy
from chaos.operators import operate
from chaos.producer import produce
from chaos.scene import Scene
from chaos.strikes import Strikes
from chaos.supervisor import supervise
from chaos.worker import work
from ferryman.queue.open import BACKENDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from chaos.cast import Cast
    from chaos.plan import Plan
    from chaos.progress import Progress
    from chaos.site import Site
    from chaos.stores import Store

_SCRIPTS_END: Final = 60.0
_DRAIN: Final = 30.0
_GIVEN_UP: Final = 5.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a campaign was and what it left. `story` tells all that is known of a job.

    `met`: what befell requests on their way to the store, by name.
    """

    evidence: Evidence
    strikes: Strikes
    seconds: float
    story: Callable[[str], Sequence[str]]
    met: Mapping[str, int]


def run(
    plan: Plan, store: Store, folder: Path, progress: Progress, broken: str | None = None
) -> Outcome:
    """Carry out a plan in a fresh folder. `broken` names a build that is broken on purpose."""
    with store.lay_out(folder) as site:
        scene = _scene(plan, site, folder, broken)
        return _run(scene, store, site, progress)


def _scene(plan: Plan, site: Site, folder: Path, broken: str | None) -> Scene:
    _warm(site.judge)
    opened = {n: broken_url(broken, url) if broken else url for n, url in site.urls.items()}
    return Scene(folder, opened, site.urls, plan, time.monotonic())


def _run(scene: Scene, store: Store, site: Site, progress: Progress) -> Outcome:
    plan, cast = scene.plan, scene.plan.cast
    may_end = (*cast.producers, cast.operator)
    bodies = _bodies(scene, site)
    crew = Crew(bodies, may_end, scene.folder / "errors")
    others = [url for url in site.urls.values() if url != site.judge]
    try:
        for name in bodies:
            crew.start(name)
        strikes = Strikes(scene, site, crew, progress)
        strikes.run()
        if not crew.wait(may_end, _SCRIPTS_END):
            crew.troubles.append("producers or operator did not come to the end of their scripts")
        # A broken build need not come to its end, only be caught.
        pace = cast.pace if scene.is_sound else replace(cast.pace, standstill=_GIVEN_UP, tidying=0)
        heal([site.judge, *others], pace, progress)
        tidy(site, pace)
        crew.drain([*cast.workers, *cast.couriers, *cast.supervisors], _DRAIN)
        found = holdings(site.judge)
        troubles = [text for url in others for text in disagreements(url, found)]
    finally:
        crew.close()
    remains = site.inspect()
    evidence = Evidence.of(
        plan,
        scene.records(),
        found,
        [*crew.troubles, *troubles, *remains.wrong],
        duplicates=remains.duplicates,
        buried=remains.buried,
        terms=store.terms,
    )
    return Outcome(evidence, strikes, scene.now, scene.story, remains.met)


def _bodies(scene: Scene, site: Site) -> dict[str, Callable[[], int]]:
    cast: Cast = scene.plan.cast
    parts = {
        **dict.fromkeys(cast.producers, produce),
        **dict.fromkeys(cast.workers, work),
        **dict.fromkeys(cast.couriers, carry),
        **dict.fromkeys(cast.supervisors, supervise),
        cast.operator: operate,
    }
    carried: dict[str, Callable[[], int]] = {}
    if site.carry is not None:
        carried[CARRIER] = partial(site.carry, scene.plan.seed)
    return carried | {name: partial(part, scene, name) for name, part in parts.items()}


def _warm(url: str) -> None:
    """Import what the children will need, and keep the collector from touching shared pages."""
    import_module(BACKENDS[url.partition(":")[0]][0])
    gc.collect()
    gc.freeze()
