"""snapshot: counted from folder entries and hints; what hints say is looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ferryman.backends.files.document import Unreadable
from ferryman.backends.files.hints import parse_bucket
from ferryman.backends.files.line import facts_of
from ferryman.backends.files.names import name_of
from ferryman.backends.files.oldest import oldest_ready
from ferryman.backends.files.reading import find_in
from ferryman.errors import Unsupported
from ferryman.job import State
from ferryman.queue.answers import QueueCounts, Snapshot

if TYPE_CHECKING:
    from ferryman.backends.files.desk import Desk
    from ferryman.backends.files.layout import Folders
    from ferryman.backends.files.store import Store

VERIFIED: Final = 20_000
"""Scheduled jobs of a queue that are looked up one by one; beyond that the hints are believed."""


def snapshot(desk: Desk) -> Snapshot:
    """Counts of every queue that has jobs or is paused."""
    store = desk.store
    now = store.now()
    store.check_root()
    leased: dict[str, set[str]] = {}
    for place in desk.index.all():
        leased.setdefault(place.queue, set()).add(place.name)
    counts = [_count(store, queue, leased.get(queue, set()), now) for queue in store.queues()]
    return Snapshot(now, {each.queue: each for each in counts if each.states or each.paused})


def depth(desk: Desk, queue: str, most: int, tenant: str | None = None) -> int:
    """How many pending jobs a queue has, due or not, at most `most`."""
    if tenant is not None:
        raise Unsupported(
            "queues of files know no tenants: count the queue, or use sqlite:// or postgresql://"
        )
    store = desk.store
    leased = {place.name for place in desk.index.all() if place.queue == queue}
    return min(most, len(_pending(store, store.folders(queue), leased)[0]))


def _count(store: Store, queue: str, leased: set[str], now: float) -> QueueCounts:
    folders = store.folders(queue)
    states = {
        state: sum(1 for name in store.disk.names(folder) or () if name.endswith(".json"))
        for state, folder in folders.ends.items()
    }
    waiting, unfinished = _pending(store, folders, leased)
    states[State.PENDING] = len(waiting)
    states |= unfinished
    scheduled = _scheduled(store, folders, now) if states[State.PENDING] else 0
    stopped = store.disk.exists(folders.paused)
    present = {state: number for state, number in states.items() if number}
    since = oldest_ready(store, folders, waiting, now) if waiting else None
    age = None if since is None else max(0.0, now - since)
    return QueueCounts(queue, present, scheduled, stopped, age)


def _pending(store: Store, folders: Folders, leased: set[str]) -> tuple[set[str], dict[State, int]]:
    """The names of pending jobs, and how many are unfinished otherwise."""
    names = store.disk.names(folders.pending) or ()
    waiting = {name for name in names if not name.startswith(".")}
    unfinished: dict[State, int] = {State.PROCESSING: 0, State.PAUSED: 0}
    paused = set(store.disk.names(folders.paused_jobs) or ())
    for name in (leased | paused) & waiting:
        state = _state(store, folders, name)
        if state in unfinished:
            unfinished[state] += 1
            waiting.discard(name)
        elif state is None or state.terminal:
            waiting.discard(name)
    return waiting, unfinished


def _state(store: Store, folders: Folders, name: str) -> State | None:
    row = find_in(store, folders, name)
    return None if row is None else row.state


def _scheduled(store: Store, folders: Folders, now: float) -> int:
    names: set[str] = set()
    for log in store.disk.names(folders.ready) or ():
        bucket = parse_bucket(log)
        if bucket is not None and bucket[2] > now:
            content = store.disk.read(f"{folders.ready}/{log}") or b""
            names |= {name_of(facts[3]) for facts in facts_of(content) if facts[0] > now}
    if len(names) > VERIFIED:
        return len(names)
    return sum(_is_scheduled(store, folders, name, now) for name in names)


def _is_scheduled(store: Store, folders: Folders, name: str, now: float) -> bool:
    try:
        row = find_in(store, folders, name)
    except Unreadable:
        return False
    return row is not None and row.state is State.PENDING and row.ready_at > now
