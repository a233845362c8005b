"""What a queue has in the bucket, by the names of its jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.files.names import LONGEST, is_ours, name_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ferryman.backends.s3.answers import Entry
    from ferryman.backends.s3.home import Spot
    from ferryman.backends.s3.node import Node
    from ferryman.job import State


def list_pending(
    node: Node, queue: str, unreadable: dict[str, str]
) -> tuple[dict[str, Entry], dict[str, Entry]]:
    """The objects `task.json` and `lease.json`; `unreadable` gets the keys that name no job."""
    tasks: dict[str, Entry] = {}
    leases: dict[str, Entry] = {}
    for spot, entry in _spots(node, node.home.pending(queue), unreadable):
        (leases if spot.lease else tasks)[spot.name] = entry
    return tasks, leases


def list_records(
    node: Node, queue: str, state: State, unreadable: dict[str, str]
) -> dict[str, Entry]:
    """The finished records in one state; `unreadable` gets the keys that name no job."""
    prefix = node.home.record(queue, state, "").removesuffix(".json")
    return {spot.name: entry for spot, entry in _spots(node, prefix, unreadable)}


def records_of(files: Iterable[str]) -> set[str]:
    """The names of jobs whose records are among the files of a folder."""
    names = (file.removesuffix(".json") for file in files if file.endswith(".json"))
    return {name for name in names if fits(name)}


def fits(name: str) -> bool:
    """Whether a job can have this name: what else stands there, the local tree may not bear."""
    return is_ours(name) and len(name.encode()) <= LONGEST


def _spots(node: Node, prefix: str, unreadable: dict[str, str]) -> Iterator[tuple[Spot, Entry]]:
    for entry in node.bucket.list(prefix):
        spot = node.home.spot(entry.key)
        if spot is not None and fits(spot.name):
            yield spot, entry
        elif spot is not None:
            unreadable[entry.key] = _complaint(spot.name)


def _complaint(name: str) -> str:
    try:
        return f"as the name of a job it is written {name_of(text_of(name))!r}"
    except UnicodeError:
        return "no job can have this name"
