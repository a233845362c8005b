"""Who takes part in a campaign, and the numbers they share."""

from __future__ import annotations

from typing import Final

PRODUCERS: Final = ("producer-0", "producer-1")
WORKERS: Final = tuple(f"worker-{number}" for number in range(10))
COURIERS: Final = tuple(f"courier-{number}" for number in range(3))
OPERATOR: Final = "operator"
EVERYONE: Final = (*WORKERS, *COURIERS, *PRODUCERS, OPERATOR)

LEASE: Final = 0.6
"""Seconds; short, so that a campaign sees many leases expire."""

SWIFT: Final = "swift"
ROUGH: Final = "rough"
HANDOFF: Final = "handoff"
SLOTS: Final = {SWIFT: 3, ROUGH: 3}
"""What a worker takes; the jobs of `handoff` are for the couriers."""
