from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from ferryman.ids import new_id
from ferryman.testing.conformance import Conformance
from tests.servers.faults import cut_before
from tests.servers.kinds import BUCKET
from tests.servers.line import FOREVER, Line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ferryman.testing.conformance.outage import TakesAway
    from tests.servers.shared import Server


class TestS3(Conformance):
    """Every case on a strict node; `make test` has a choice of them."""

    many, jobs, pairs, rounds, kills = 40, 40, 20, 10, 2

    @pytest.fixture
    def url(self, ministack: Server, aws_settings: None, memory_folder: Path) -> str:
        endpoint = quote(ministack.address, safe="")
        return f"s3://{BUCKET}/{new_id()}?root={memory_folder}/queues&endpoint={endpoint}"

    @pytest.fixture
    def line(self, ministack: Server) -> Iterator[Line]:
        with Line(ministack.address) as line:
            yield line

    @pytest.fixture
    def impatient_url(self, url: str, line: Line) -> str:
        """The same store by a line that can be cut."""
        return f"{url.partition('&endpoint=')[0]}&endpoint={quote(line.address, safe='')}"

    @pytest.fixture
    def outage(self, line: Line) -> TakesAway:
        @contextmanager
        def cut_off() -> Iterator[None]:
            line.fault(cut_before, times=FOREVER)
            yield
            line.calm()

        return cut_off
