"""Random verb sequences through the S3 backend."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from ferryman.backends.s3.bucket import Bucket
from ferryman.ids import new_id
from ferryman.queue.open import open_backend
from ferryman.testing.machine import check_backend
from tests.s3.nodes import node, relaxed_node
from tests.s3.simulated import SimulatedCalls
from tests.servers.kinds import BUCKET

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ferryman.clock import Clock
    from ferryman.queue.contract import Backend
    from tests.servers.shared import Server


def test_every_answer_of_the_s3_backend_is_allowed_by_the_contract(
    ministack: Server, aws_settings: None, memory_folder: Path
) -> None:
    numbers, prefix = count(), new_id()

    def make(clock: Clock) -> Backend:
        number = next(numbers)
        endpoint = quote(ministack.address, safe="")
        url = f"s3://{BUCKET}/{prefix}/{number}?root={memory_folder}/{number}&endpoint={endpoint}"
        return open_backend(url, clock)

    check_backend(make, examples=4)


@pytest.mark.parametrize("open_node", [node, relaxed_node])
def test_so_is_every_answer_on_a_simulated_bucket_where_many_more_can_be_tried(
    open_node: Callable[..., Backend], memory_folder: Path
) -> None:
    numbers = count()

    def make(clock: Clock) -> Backend:
        bucket = Bucket(BUCKET, calls=SimulatedCalls())
        root = memory_folder / str(next(numbers))
        return open_node("http://nowhere", "prefix", root, clock, bucket)

    check_backend(make, examples=50)
