from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from ferryman.testing.conformance import Conformance

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ferryman.queue.contract import Backend
    from ferryman.testing.conformance.outage import TakesAway


class TestFile(Conformance):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return f"file://{tmp_path}/queues"

    @pytest.fixture
    def outage(self, backend: Backend, tmp_path: Path) -> TakesAway:
        @contextmanager
        def moved_away() -> Iterator[None]:
            root, away = tmp_path / "queues", tmp_path / "away"
            root.rename(away)
            yield
            away.rename(root)

        return moved_away
