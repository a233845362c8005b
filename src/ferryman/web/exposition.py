"""Everything that one scrape shows: the store, and the processes that work here."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.multiprocess import MultiProcessCollector

from ferryman.service.gauges import StoreGauges
from ferryman.telemetry.metrics import SHARED_DIR, count

if TYPE_CHECKING:
    from ferryman.events import Events
    from ferryman.queue.contract import Backend

MEDIA_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4


class Exposition:
    """Follows the events of a Ferry of this process, if there is one.

    Where several processes count together, all of them are shown, those that died too: what they
    counted lies in files that outlive them.
    """

    def __init__(self, backend: Backend, events: Events | None = None) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(StoreGauges(backend))
        if events is not None:
            count(events, self._registry)
        if SHARED_DIR in os.environ:
            MultiProcessCollector(self._registry)  # type: ignore[no-untyped-call]

    def text(self) -> bytes:
        """In the format that Prometheus scrapes."""
        return generate_latest(self._registry)
