"""What one server has: its store, the app's tasks if it knows them, and its door."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferryman.service.control import Control
from ferryman.service.insights import Insights
from ferryman.web.access.door import Door, check_role
from ferryman.web.exposition import Exposition

if TYPE_CHECKING:
    from ferryman.events import Events
    from ferryman.flow.capacity import Capacities
    from ferryman.queue.contract import Backend
    from ferryman.service.roles import Role
    from ferryman.tasks.tasks import Tasks
    from ferryman.web.access.visitor import Visitor


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

    def close(self) -> None:
        """Say that no more requests are wanted."""
        self.draining = True


@dataclass(slots=True)
class Visit:
    """One request of somebody who may make it; what it asks is confined to what they may see.

    `count` and `where` go into the audit log: how many jobs were changed (0: nothing was), and by
    which filter. None where that does not apply.
    """

    site: Site
    visitor: Visitor
    request_id: str
    target: str = ""
    count: int | None = None
    where: str | None = None

    @property
    def insights(self) -> Insights:
        return Insights(self.site.backend, self.visitor.queues)

    @property
    def control(self) -> Control:
        return Control(
            self.site.backend, self.site.tasks, self.site.capacities, only=self.visitor.queues
        )

    def require(self, role: Role) -> None:
        """For acts of one route that need more than the route itself."""
        check_role(self.visitor, role)
