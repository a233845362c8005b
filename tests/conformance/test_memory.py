from __future__ import annotations

import pytest

from ferryman.testing.conformance import Conformance


class TestMemory(Conformance):
    @pytest.fixture
    def url(self) -> str:
        return "memory://"
