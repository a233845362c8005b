"""What one server has: its store, the app's tasks if it knows them, and its door."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from anyio import CapacityLimiter

from ferryman.ids import new_id
from ferryman.service.audit import Audit
from ferryman.service.bulk_runner import BulkRunner
from ferryman.service.control import Control
from ferryman.service.insights import Insights
from ferryman.service.look import Look
from ferryman.service.push_quota import PushQuota, Spending
from ferryman.service.search import scans
from ferryman.web.access.door import Door, check_role
from ferryman.web.exposition import Exposition
from ferryman.web.feed import Feed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.events import Events
    from ferryman.flow.capacity import Capacities
    from ferryman.queue.contract import Backend
    from ferryman.service.roles import Role
    from ferryman.tasks.tasks import Tasks
    from ferryman.web.access.visitor import Visitor

SCANS: Final = 2
"""Searches without an index that are under way at a time; the others wait for their turn."""


class Site:
    """Shared by all requests; thread-safe."""

    def __init__(
        self,
        backend: Backend,
        tasks: Tasks | None,
        capacities: Capacities | None,
        *,
        token: str | None,
        environment: str | None,
        rate: float,
        events: Events | None = None,
    ) -> None:
        self.backend = backend
        self.metrics = Exposition(backend, events)
        self.tasks = tasks
        self.capacities = capacities
        self.environment = environment
        self.draining = False
        self.door = Door(backend, token, rate=rate, burst=int(rate * 3))
        self.audit = Audit(backend)
        self.bulk = BulkRunner(backend, self.audit)
        # Searches that take long leave the other threads to those who ask for less.
        self.scans = CapacityLimiter(SCANS)
        self.look = Look(backend)
        self.feed = Feed(backend, self.look, self.door.holds)

    def close(self) -> None:
        """Send the listeners away and end bulk acts after the part that is under way."""
        self.draining = True
        self.feed.close()
        self.bulk.stop()


@dataclass(slots=True)
class Visit:
    """One request of somebody who may make it; what it asks is confined to what they may see.

    `root` is the path under which the server is mounted. `target` and `count` go into the audit
    log: what was changed, and how many jobs; 0 is for a change that was none, or that is noted
    elsewhere.
    """

    site: Site
    visitor: Visitor
    request_id: str
    root: str = ""
    target: str = ""
    count: int | None = None

    def threads(self, where: str) -> CapacityLimiter | None:
        """By what a search by this filter is run; None: as everything is."""
        return self.site.scans if scans(self.insights.filter(where)) else None

    @property
    def insights(self) -> Insights:
        return Insights(self.site.backend, self.visitor.queues, self.site.look)

    @property
    def control(self) -> Control:
        return Control(
            self.site.backend, self.site.tasks, self.site.capacities, only=self.visitor.queues
        )

    @contextmanager
    def pushing(self, count: int) -> Iterator[Spending]:
        """For a push of `count` jobs: it counts against the quota of the visitor's key."""
        key_id, quota = self.visitor.key_id, self.visitor.pushes
        if key_id is None or quota is None:
            yield Spending()
            return
        with PushQuota(self.site.backend, key_id, quota).spend(count) as spending:
            yield spending

    def note(self, act: str) -> None:
        """Add a row to the audit log, unless nothing was changed."""
        if self.count != 0:
            self.site.audit.add(
                new_id(),
                self.visitor.name,
                act,
                target=self.target,
                count=self.count,
                request_id=self.request_id,
            )

    def require(self, role: Role) -> None:
        """For acts of one route that need more than the route itself."""
        check_role(self.visitor, role)
