"""Where everything lies below the root: the one place that knows folder names."""

from __future__ import annotations

from typing import Final

from ferryman.backends.files.names import name_of
from ferryman.job import State

FORMAT: Final = 1
ENDS: Final = (State.COMPLETED, State.FAILED, State.CANCELLED)


class Folders:
    """The folders of one queue."""

    __slots__ = (
        "ends",
        "expiring",
        "keys",
        "name",
        "paused",
        "paused_jobs",
        "pending",
        "quarantine",
        "queue",
        "ready",
        "root",
    )

    def __init__(self, root: str, queue: str) -> None:
        self.queue = queue
        self.root = home = f"{root}/{name_of(queue)}"
        self.name = f"{home}/.name"
        self.pending = f"{home}/pending"
        self.ends: dict[State, str] = {state: f"{home}/{state.value}" for state in ENDS}
        self.quarantine = f"{home}/quarantine"
        self.paused = f"{home}/paused.json"
        self.ready = f"{home}/.ready"
        self.expiring = f"{home}/.expiring"
        self.keys = f"{home}/.keys"
        self.paused_jobs = f"{home}/.paused"

    def all(self) -> tuple[str, ...]:
        """Every folder, in the order in which they are made.

        `.ready` comes last, when the others are durable: without it all hints are written anew.
        """
        inner = (self.quarantine, self.expiring, self.keys, self.paused_jobs, self.ready)
        return (self.root, self.pending, *self.ends.values(), *inner)

    def job(self, name: str) -> str:
        return f"{self.pending}/{name}"

    def record(self, state: State, name: str) -> str:
        return f"{self.ends[state]}/{name}.json"


class Layout:
    """The root and what belongs to no single queue; names with a dot can be no queue's."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.format = f"{root}/.format.json"
        self.tmp = f"{root}/.tmp"
        self.leases = f"{root}/.leases"
        self.cells = f"{root}/.cells"
        self._folders: dict[str, Folders] = {}

    def of(self, queue: str) -> Folders:
        folders = self._folders.get(queue)
        if folders is None:
            folders = self._folders[queue] = Folders(self.root, queue)
        return folders

    def with_folder(self, path: str) -> Folders | None:
        """Of the queues asked for so far, the one that has this folder."""
        return next((each for each in list(self._folders.values()) if path in each.all()), None)

    def all(self) -> tuple[str, ...]:
        return (self.tmp, self.leases, self.cells)
