"""A member of the cast that runs the product's own worker."""

from __future__ import annotations

import sys
import traceback
from typing import TYPE_CHECKING

from chaos.cast import SLOTS
from chaos.handlers import Handlers
from chaos.opening import launched
from chaos.records import Ended, Reaped, Refused
from ferryman import Event, Ferry, Settings

if TYPE_CHECKING:
    from chaos.journal import Journal
    from chaos.scene import Scene

_ENDS = ("completed", "failed", "cancelled", "paused", "retried", "returned")


def work(scene: Scene, name: str) -> int:
    """Claim and run until killed, or until SIGTERM asks for a drain."""
    journal, pace = scene.journal(name), scene.plan.cast.pace
    with launched(Ferry(scene.url(name))) as ferry:
        Handlers(ferry, journal)
        write_down(ferry, journal)
        # The grace time is shorter than some handlers, so that a drain gives jobs back.
        settings = Settings(
            lease=pace.lease,
            poll_every=pace.poll_every,
            drain=pace.drain,
            reap_every=pace.reap_every,
            history=None,
        )
        worker = ferry.worker(SLOTS, settings)
        code = worker.run()
        if worker.error is not None:
            traceback.print_exception(worker.error, file=sys.stderr)
        return code


def write_down(ferry: Ferry, journal: Journal) -> None:
    """Record what the store answered, as the worker's own events tell it."""

    def ended(event: Event) -> None:
        job = event["job"]
        state, delay = event["state"], event["delay"]
        journal.write(Ended(job.id, job.fence, job.generation, state, delay, journal.node))

    def lost(event: Event) -> None:
        journal.write(Refused(event["job"].id, event["job"].fence))

    def reaped(event: Event) -> None:
        journal.write(Reaped(event["reaped"].id, event["reaped"].state))

    for end in _ENDS:
        ferry.on(f"job.{end}")(ended)
    ferry.on("job.lost")(lost)
    ferry.on("job.reaped")(reaped)
