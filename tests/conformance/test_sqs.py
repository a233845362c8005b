from __future__ import annotations

from ferryman.testing.conformance.fence import Fence
from ferryman.testing.conformance.handoff import HandOff
from ferryman.testing.conformance.ids import Ids
from ferryman.testing.conformance.lifecycle import Lifecycle
from ferryman.testing.conformance.pause import PausedQueue
from ferryman.testing.conformance.poll import Poll
from ferryman.testing.conformance.reap import Reap
from tests.conformance.sqs_ledger import BeforeSqlite


class TestSqsInShort(BeforeSqlite, Ids, Fence, HandOff, Lifecycle, PausedQueue, Poll, Reap):
    """The cases that stand most on notices; all others are in `make test-system`."""
