from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from ferryman.ids import new_id
from ferryman.testing.conformance.fence import Fence
from ferryman.testing.conformance.handoff import HandOff
from ferryman.testing.conformance.ids import Ids
from ferryman.testing.conformance.lifecycle import Lifecycle
from ferryman.testing.conformance.reap import Reap
from tests.conformance.relaxed_node import RelaxedNode
from tests.servers.kinds import BUCKET

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers.shared import Server


class TestS3RelaxedInShort(RelaxedNode, Ids, Fence, HandOff, Reap, Lifecycle):
    """The cases that stand most on what a node carries; all others are in `make test-system`."""


class TestS3InShort(Ids, Fence, HandOff, Reap, Lifecycle):
    """The cases that stand most on conditions, listings and names, on a real store.

    All cases are in `make test-system`.
    """

    many = 20

    @pytest.fixture
    def url(self, seaweedfs: Server, aws_settings: None, memory_folder: Path) -> str:
        endpoint = quote(seaweedfs.address, safe="")
        return f"s3://{BUCKET}/{new_id()}?root={memory_folder}/queues&endpoint={endpoint}"
