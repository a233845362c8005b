"""Queues in a bucket: readable objects, and conditional writes that decide every race."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.s3.bucket import Bucket
from ferryman.backends.s3.location import Consistency, Location
from ferryman.backends.s3.relaxed import RelaxedBackend
from ferryman.backends.s3.strict import StrictBackend
from ferryman.clock import SystemClock

if TYPE_CHECKING:
    from ferryman.clock import Clock

__all__ = ["RelaxedBackend", "StrictBackend", "connect"]


def connect(url: str, clock: Clock) -> StrictBackend | RelaxedBackend:
    """Open `s3://bucket/prefix?root=/var/lib/queues`; prefix and root are made if they are new.

    Options: `campaign`, `consistency`, `endpoint`, `region`. A `SystemClock` is this machine's and
    may be wrong; another clock is the time of the whole store.
    """
    location = Location.parse(url)
    if location.consistency is Consistency.RELAXED:
        return RelaxedBackend(location, clock)
    machine = clock if isinstance(clock, SystemClock) else None
    return StrictBackend(location, Bucket.at(location, clock=machine), clock)
