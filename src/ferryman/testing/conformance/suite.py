"""All cases together."""

from __future__ import annotations

from ferryman.testing.conformance.arrivals import Arrivals
from ferryman.testing.conformance.cancel import Cancel
from ferryman.testing.conformance.capacity import Capacity
from ferryman.testing.conformance.cells import Cells
from ferryman.testing.conformance.crash import Crash
from ferryman.testing.conformance.delay import Delay
from ferryman.testing.conformance.expires import Expires
from ferryman.testing.conformance.fence import Fence
from ferryman.testing.conformance.handoff import HandOff
from ferryman.testing.conformance.heartbeat import Heartbeat, LostPoll
from ferryman.testing.conformance.ids import Ids
from ferryman.testing.conformance.keys import Keys
from ferryman.testing.conformance.lifecycle import Lifecycle
from ferryman.testing.conformance.listing import Listing
from ferryman.testing.conformance.moving import Moving
from ferryman.testing.conformance.operators import Operators
from ferryman.testing.conformance.order import Order
from ferryman.testing.conformance.outage import Promise7Outage
from ferryman.testing.conformance.pause import Pause, PausedQueue
from ferryman.testing.conformance.poll import Poll
from ferryman.testing.conformance.processes import Processes
from ferryman.testing.conformance.promises import (
    Promise1Push,
    Promise2Run,
    Promise3Finish,
    Promise4HandOff,
    Promise5Order,
    Promise6Ids,
    Promise8Capabilities,
)
from ferryman.testing.conformance.prune import Prune
from ferryman.testing.conformance.push import Push
from ferryman.testing.conformance.races import Races
from ferryman.testing.conformance.reap import Reap
from ferryman.testing.conformance.receipts import Receipts
from ferryman.testing.conformance.restore import Restore
from ferryman.testing.conformance.retry import Retry
from ferryman.testing.conformance.settle import Settle
from ferryman.testing.conformance.snapshot import Counts
from ferryman.testing.conformance.tenants import Tenants
from ferryman.testing.conformance.transaction import Transaction
from ferryman.testing.conformance.verdicts import Verdicts
from ferryman.testing.conformance.wait import Wait


class Conformance(
    Promise1Push,
    Promise2Run,
    Promise3Finish,
    Promise4HandOff,
    Promise5Order,
    Promise6Ids,
    Promise7Outage,
    Promise8Capabilities,
    Lifecycle,
    Push,
    Ids,
    Keys,
    Transaction,
    Capacity,
    Poll,
    Order,
    Tenants,
    Delay,
    Expires,
    Heartbeat,
    LostPoll,
    Settle,
    Receipts,
    Fence,
    HandOff,
    Reap,
    Wait,
    Cancel,
    Pause,
    PausedQueue,
    Retry,
    Operators,
    Restore,
    Arrivals,
    Moving,
    Listing,
    Counts,
    Prune,
    Cells,
    Races,
    Verdicts,
    Processes,
    Crash,
):
    """Every case, for one backend."""
