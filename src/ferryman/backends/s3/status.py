"""What a node tells the others about itself: `status/<node>.json`."""

from __future__ import annotations

import json
import os
import socket
from typing import TYPE_CHECKING

from ferryman.backends.files.moments import text_of
from ferryman.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferryman.backends.s3.node import Node


def publish(node: Node, name: str, status: Mapping[str, object]) -> None:
    """Write a node's status; the newest stands."""
    facts = {
        "timestamp": text_of(node.store.now()),
        "hostname": socket.gethostname(),
        "campaign": node.location.campaign,
        "system": {"load": os.getloadavg(), "cpus": os.cpu_count()},
        "requests": dict(node.bucket.requests),
        **status,
        "nonce": new_id(),
    }
    body = json.dumps(facts, ensure_ascii=False, indent=2).encode() + b"\n"
    node.bucket.put(node.home.node(name), body)
