"""Where everything lies in the bucket: the one place that knows keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ferryman.backends.files.layout import ENDS
from ferryman.backends.files.names import name_of, text_of

if TYPE_CHECKING:
    from ferryman.backends.s3.location import Location
    from ferryman.job import State

FORMAT: Final = 1
_ENDS: Final = {state.value: state for state in ENDS}


class Spot(NamedTuple):
    """What a key belongs to: a job's `task.json` or `lease.json`, or a record of `state`."""

    queue: str
    name: str
    state: State | None
    lease: bool = False


class Home:
    """The keys below one prefix. Jobs are named as the file backend names them."""

    def __init__(self, location: Location) -> None:
        self.base = location.queues
        self._queue = location.queue
        self.format = f"{self.base}ferryman.json"
        self.cells = location.aside("cells")
        self.keys = location.aside("keys")
        self.queues = location.aside("queues")
        self.nodes = location.aside("status")
        self.probe = location.aside("probe")

    def queue(self, queue: str) -> str:
        """The mark by which other nodes learn that there is such a queue."""
        return f"{self.queues}{name_of(queue)}"

    def pending(self, queue: str) -> str:
        return f"{self._queue(queue)}pending/"

    def task(self, queue: str, name: str) -> str:
        return f"{self._queue(queue)}pending/{name}/task.json"

    def lease(self, queue: str, name: str) -> str:
        return f"{self._queue(queue)}pending/{name}/lease.json"

    def record(self, queue: str, state: State, name: str) -> str:
        return f"{self._queue(queue)}{state.value}/{name}.json"

    def paused(self, queue: str) -> str:
        return f"{self._queue(queue)}paused.json"

    def key(self, queue: str, key: str) -> str:
        return f"{self.keys}{name_of(queue)}/{name_of(key)}.json"

    def duplicate(self, queue: str, name: str, nonce: str) -> str:
        return f"{self._queue(queue)}duplicates/{name}.{nonce}.json"

    def cell(self, key: str) -> str:
        return f"{self.cells}{name_of(key)}.json"

    def node(self, node: str) -> str:
        return f"{self.nodes}{name_of(node)}.json"

    def spot(self, key: str) -> Spot | None:
        """What a key that a listing gave is; None for what belongs to no job."""
        parts = key.removeprefix(self.base).split("/")
        if parts[0].startswith(".") or len(parts) < 3:
            return None
        queue = text_of(parts[0])
        if len(parts) == 4 and parts[1] == "pending" and parts[3] in ("task.json", "lease.json"):
            return Spot(queue, parts[2], None, lease=parts[3] == "lease.json")
        if len(parts) == 3 and parts[1] in _ENDS and parts[2].endswith(".json"):
            return Spot(queue, parts[2].removesuffix(".json"), _ENDS[parts[1]])
        return None
