"""Random verb sequences through the S3 backend."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING
from urllib.parse import quote

from ferryman.ids import new_id
from ferryman.queue.open import open_backend
from ferryman.testing.machine import check_backend
from tests.servers.kinds import BUCKET

if TYPE_CHECKING:
    from pathlib import Path

    from ferryman.clock import Clock
    from ferryman.queue.contract import Backend
    from tests.servers.shared import Server


def test_every_answer_of_the_s3_backend_is_allowed_by_the_contract(
    ministack: Server, aws_settings: None, tmp_path: Path
) -> None:
    numbers, prefix = count(), new_id()

    def make(clock: Clock) -> Backend:
        number = next(numbers)
        endpoint = quote(ministack.address, safe="")
        url = f"s3://{BUCKET}/{prefix}/{number}?root={tmp_path}/{number}&endpoint={endpoint}"
        return open_backend(url, clock)

    check_backend(make, examples=10)
