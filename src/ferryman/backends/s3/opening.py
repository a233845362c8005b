"""Opening a store: whose root it is, which format the bucket has, and whether it can be trusted."""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ferryman.backends.s3.probe import probe
from ferryman.errors import BackendRejected

if TYPE_CHECKING:
    from ferryman.backends.s3.bucket import Bucket
    from ferryman.backends.s3.location import Location
    from ferryman.backends.s3.node import Node

PROBED: Final = 86_400.0
"""Seconds for which the probe of an endpoint is believed by the processes of a node."""


# Endpoints, with their buckets, that this process has found to hold every condition.
_held: set[tuple[str, str]] = set()


def root_of(location: Location, bucket: Bucket) -> str:
    """The local folder: as the URL says, else one for each store below the user's cache."""
    if location.root is not None:
        return str(location.root).rstrip("/")
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    # Not the URL's endpoint: where the AWS settings name it, two stores may have one URL.
    whole = f"{bucket.endpoint}|{location.bucket}|{location.queues}"
    digest = hashlib.sha256(whole.encode()).hexdigest()[:16]
    return f"{cache}/ferryman/s3/{location.bucket}-{digest}"


def prepare(node: Node) -> None:
    """Refuse a root of another store, a newer format, and a bucket that ignores conditions."""
    facts = own_root(node)
    node.mark.check()
    node.server_clock.take()
    node.server_clock.give()
    endpoint = node.bucket.endpoint
    if facts.get("endpoint") == endpoint and _probed(facts):
        return
    place = (endpoint, node.bucket.name)
    if place not in _held:
        probe(node.bucket, node.home.probe).require()
        _held.add(place)
    _write(node, facts | {"endpoint": endpoint, "probed": time.time()})


def own_root(node: Node) -> dict[str, object]:
    """Refuse the root of another store; what is known about this one."""
    location, disk = node.location, node.store.disk
    mine: dict[str, object] = {
        "bucket": location.bucket,
        "base": location.queues,
        "consistency": location.consistency.value,
    }
    content = disk.read(_path(node))
    if content is None:
        _write(node, mine)
        return mine
    try:
        facts = dict(json.loads(content))
    except (ValueError, TypeError):
        facts = mine
    if any(facts.get(name) != mine[name] for name in mine):
        raise BackendRejected(
            f"{node.store.layout.root} mirrors s3://{facts.get('bucket')}/{facts.get('base')} "
            f"({facts.get('consistency')}): choose another root for this store"
        )
    return facts


def _probed(facts: dict[str, object]) -> bool:
    probed = facts.get("probed")
    return isinstance(probed, int | float) and 0 <= time.time() - probed < PROBED


def _path(node: Node) -> str:
    return f"{node.store.layout.root}/.bucket.json"


def _write(node: Node, facts: dict[str, object]) -> None:
    node.store.put_hint(_path(node), json.dumps(facts, indent=2).encode() + b"\n")
