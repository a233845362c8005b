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
    try:
        chance = _chances.pop()
    except IndexError:
        chance = _refill()
    return f"{when[:8]}-{when[8:]}-7{rest * 4096 // 1_000_000:03x}-{chance}"


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


def _refill() -> str:
    """Random ends of ids, many for one question to the system; pop and extend are atomic.

    Not the random module: programs seed it, and two that use one seed would make equal ids.
    """
    digits = os.urandom(8 * _AT_ONCE).hex()
    ends = [digits[start : start + 16] for start in range(0, len(digits), 16)]
    _chances.extend([f"{_VARIANTS[end[0]]}{end[1:4]}-{end[4:]}" for end in ends])
    return _chances.pop()


_AT_ONCE = 256
_chances: list[str] = []
# A forked child must not make the ids that its parent is going to make.
os.register_at_fork(after_in_child=_chances.clear)


def _dashed(number: int) -> str:
    text = f"{number:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
