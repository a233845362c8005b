"""What makes the suite run on a relaxed S3 node."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from ferryman.ids import new_id
from ferryman.testing.conformance.store import Store
from tests.servers.kinds import BUCKET

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ferryman.queue.contract import Backend
    from ferryman.testing.conformance.outage import TakesAway
    from tests.servers.shared import Server


class RelaxedNode(Store):
    """Files, with a bucket to which everything is carried."""

    many, jobs, pairs, rounds, kills = 40, 40, 20, 10, 2

    @pytest.fixture
    def url(self, ministack: Server, aws_settings: None, memory_folder: Path) -> str:
        endpoint = quote(ministack.address, safe="")
        options = f"root={memory_folder}/queues&consistency=relaxed&endpoint={endpoint}"
        return f"s3://{BUCKET}/{new_id()}?{options}"

    @pytest.fixture
    def outage(self, backend: Backend, memory_folder: Path) -> TakesAway:
        """Without the bucket it works on; without its folder it cannot."""

        @contextmanager
        def moved_away() -> Iterator[None]:
            root, away = memory_folder / "queues", memory_folder / "away"
            root.rename(away)
            yield
            away.rename(root)

        return moved_away
