from __future__ import annotations

from ferryman.testing.conformance import Conformance
from tests.conformance.relaxed_node import RelaxedNode


class TestS3Relaxed(RelaxedNode, Conformance):
    """Every case on one relaxed node; `make test` has a choice of them."""
