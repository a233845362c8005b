"""Random verb sequences through the memory backend."""

from __future__ import annotations

from ferryman.backends.memory import MemoryBackend
from ferryman.testing.machine import check_backend


def test_every_answer_of_the_memory_backend_is_allowed_by_the_contract() -> None:
    check_backend(MemoryBackend, examples=150)
