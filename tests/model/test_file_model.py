"""Random verb sequences through the file backend."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from ferryman.queue.open import open_backend
from ferryman.testing.machine import check_backend

if TYPE_CHECKING:
    from pathlib import Path

    from ferryman.clock import Clock
    from ferryman.queue.contract import Backend


def test_every_answer_of_the_file_backend_is_allowed_by_the_contract(tmp_path: Path) -> None:
    numbers = count()

    def make(clock: Clock) -> Backend:
        # Power is not cut here, so the disk need not be waited for.
        return open_backend(f"file://{tmp_path}/{next(numbers)}?durability=relaxed", clock)

    check_backend(make, examples=100)
