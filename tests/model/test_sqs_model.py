"""Random verb sequences through the SQS backend with a ledger."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from ferryman.ids import new_id
from ferryman.queue.open import open_backend
from ferryman.testing.machine import check_backend
from tests.servers.sqs import sqs_url

if TYPE_CHECKING:
    from pathlib import Path

    from ferryman.clock import Clock
    from ferryman.queue.contract import Backend
    from tests.servers.shared import Server


def test_every_answer_of_the_sqs_backend_is_allowed_by_the_contract(
    ministack: Server, aws_settings: None, memory_folder: Path
) -> None:
    numbers = count()

    def make(clock: Clock) -> Backend:
        ledger = f"sqlite:///{memory_folder}/{next(numbers)}.db?synchronous=normal"
        return open_backend(sqs_url(ministack, new_id().replace("-", ""), ledger), clock)

    check_backend(make, examples=25)
