"""The names of SQS queues, made from ours."""

from __future__ import annotations

import hashlib
import re
from enum import StrEnum
from functools import lru_cache
from typing import Final

_PLAIN: Final = re.compile(r"[A-Za-z0-9-]{1,40}")
_LOOKS_MADE: Final = re.compile(r".*-[0-9a-f]{12}")
_KEPT: Final = 27


class Label(StrEnum):
    """Which of a queue's lines a priority goes to: one SQS queue each."""

    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"

    @classmethod
    def of(cls, priority: int) -> Label:
        if priority == 0:
            return cls.NORMAL
        return cls.HIGH if priority > 0 else cls.LOW


@lru_cache(maxsize=1_024)
def sqs_name(prefix: str, queue: str, label: Label = Label.NORMAL) -> str:
    """At most 80 letters, digits, - and _, and never the same for two queues.

    No part of ours has an underscore, so that it can only stand between them.
    """
    suffix = "" if label is Label.NORMAL else f"_{label}"
    return f"{prefix}_{_part(queue)}{suffix}"


def dead_name(prefix: str, queue: str) -> str:
    """Where messages go that failed for good, without a ledger to record them."""
    return f"{prefix}_{_part(queue)}_failed"


def _part(queue: str) -> str:
    if _PLAIN.fullmatch(queue) and not _LOOKS_MADE.fullmatch(queue):
        return queue
    readable = re.sub(r"[^A-Za-z0-9]+", "-", queue)[:_KEPT]
    return f"{readable}-{hashlib.sha256(queue.encode()).hexdigest()[:12]}"
