"""Opening a store: whose root it is, which format the bucket has, and whether it can be trusted."""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ferryman.backends.s3.probe import probe_quickly
from ferryman.errors import BackendRejected

if TYPE_CHECKING:
    from ferryman.backends.s3.location import Location
    from ferryman.backends.s3.node import Node

PROBED: Final = 86_400.0
"""Seconds for which the probe of an endpoint is believed by the processes of a node."""


# Endpoints that this process has found to hold every condition.
_held: set[tuple[str | None, str]] = set()


def root_of(location: Location) -> str:
    """The local folder: as the URL says, else one for each store below the user's cache."""
    if location.root is not None:
        return str(location.root).rstrip("/")
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    whole = f"{location.endpoint}|{location.bucket}|{location.queues}"
    digest = hashlib.sha256(whole.encode()).hexdigest()[:16]
    return f"{cache}/ferryman/s3/{location.bucket}-{digest}"


def prepare(node: Node) -> None:
    """Refuse a root of another store, a newer format, and a bucket that ignores conditions."""
    facts = own_root(node)
    node.mark.check()
    node.server_clock.take()
    node.server_clock.give()
    if not _probed(facts):
        place = (node.location.endpoint, node.location.bucket)
        if place not in _held:
            probe_quickly(node.bucket, node.home.probe).require()
            _held.add(place)
        _write(node, facts | {"probed": time.time()})


def own_root(node: Node) -> dict[str, object]:
    """Refuse the root of another store; what is known about this one."""
    location, disk = node.location, node.store.disk
    mine: dict[str, object] = {
        "bucket": location.bucket,
        "base": location.queues,
        "endpoint": location.endpoint,
        "consistency": location.consistency.value,
    }
    content = disk.read(_path(node))
    if content is None:
        _write(node, mine)
        return dict(mine)
    try:
        facts = dict(json.loads(content))
    except (ValueError, TypeError):
        facts = dict(mine)
    if any(facts.get(name) != mine[name] for name in ("bucket", "base", "consistency")):
        raise BackendRejected(
            f"{node.store.layout.root} mirrors s3://{facts.get('bucket')}/{facts.get('base')} "
            f"({facts.get('consistency')}): choose another root for this store"
        )
    return facts if facts.get("endpoint") == mine["endpoint"] else dict(mine)


def _probed(facts: dict[str, object]) -> bool:
    probed = facts.get("probed")
    return isinstance(probed, int | float) and 0 <= time.time() - probed < PROBED


def _path(node: Node) -> str:
    return f"{node.store.layout.root}/.bucket.json"


def _write(node: Node, facts: dict[str, object]) -> None:
    node.store.put_hint(_path(node), json.dumps(facts, indent=2).encode() + b"\n")
