"""Ids of jobs, sortable by time when we make them and derived when handed over; of workers."""

from __future__ import annotations

import hashlib
import os
import socket
import time

# RFC 9562: the first digit of the fourth group holds two fixed bits and two random ones.
_VARIANTS = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}


def new_id() -> str:
    """A UUIDv7: millisecond, a 12-bit fraction of it, then 62 random bits."""
    millis, rest = divmod(time.time_ns(), 1_000_000)
    when = f"{millis:012x}"
    # Not the random module: programs seed it, and two that use one seed would make equal ids.
    chance = os.urandom(8).hex()
    fraction = rest * 4096 // 1_000_000
    return f"{when[:8]}-{when[8:]}-7{fraction:03x}-{_VARIANTS[chance[0]]}{chance[1:4]}-{chance[4:]}"


def worker_id() -> str:
    """Who claims: host, process and a mark that no earlier process of that number had."""
    return f"{socket.gethostname()}:{os.getpid()}:{new_id()[-6:]}"


def child_id(parent_id: str, generation: int, edge: str, index: int | str) -> str:
    """The id of a handed-over child: the same parent, edge and index always give the same id.

    Handing over twice is therefore harmless; a retried parent (new generation) has new children.
    """
    # An index and a key that look alike are two children.
    parts = (parent_id, str(generation), edge, type(index).__name__, str(index))
    digest = hashlib.sha256("\0".join(parts).encode()).digest()
    number = int.from_bytes(digest[:16])
    return _dashed(number & ~(0xF << 76) & ~(3 << 62) | 8 << 76 | 2 << 62)


def _dashed(number: int) -> str:
    text = f"{number:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
