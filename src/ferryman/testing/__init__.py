"""For your tests, and for certifying a backend (`ferryman.testing.conformance`)."""

from ferryman.testing.clock import FakeClock
from ferryman.testing.inline import assert_pushed, drain
from ferryman.testing.waiting import wait_until

__all__ = ["FakeClock", "assert_pushed", "drain", "wait_until"]
