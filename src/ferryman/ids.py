"""Ids of jobs, sortable by time when we make them and derived when handed over; of workers."""

from __future__ import annotations

import hashlib
import os
import socket
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_BITS = 12
_FRACTION = (1 << _BITS) - 1
# RFC 9562: the fourth group begins with two fixed bits.
_VARIANTS = bytes(byte & 0x3F | 0x80 for byte in range(256))


def new_id() -> str:
    """A UUIDv7: millisecond, a 12-bit fraction of it, then 62 random bits."""
    when = f"{_now():015x}"
    try:
        end = _ends.pop()
    except IndexError:
        # One is taken before others see them: they may be quick.
        end, *others = _random_ends(_AT_ONCE)
        _ends.extend(others)
    return f"{when[:8]}-{when[8:12]}-7{when[12:]}-{end}"


def new_ids(number: int) -> list[str]:
    """As many in their order: each is one step of the fraction later than the one before."""
    ids: list[str] = []
    millisecond, start = -1, ""
    for now, end in enumerate(_random_ends(number), _now()):
        if now >> _BITS != millisecond:
            millisecond = now >> _BITS
            when = f"{millisecond:012x}"
            start = f"{when[:8]}-{when[8:]}-7"
        ids.append(f"{start}{now & _FRACTION:03x}-{end}")
    return ids


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


def _now() -> int:
    """Milliseconds, and 12 bits for their fraction."""
    return (time.time_ns() << _BITS) // 1_000_000


def _random_ends(number: int) -> Iterator[str]:
    """Ends of ids, many for one question to the system.

    Not the random module: programs seed it, and two that use one seed would make equal ids.
    """
    if not number:
        return iter(())
    heads = bytearray(os.urandom(2 * number))
    heads[::2] = heads[::2].translate(_VARIANTS)
    tails = os.urandom(6 * number)
    ends = zip(heads.hex("-", 2).split("-"), tails.hex("-", 6).split("-"), strict=True)
    return map("-".join, ends)


_AT_ONCE = 256
# Pop and extend are atomic.
_ends: list[str] = []
# A forked child must not make the ids that its parent is going to make.
os.register_at_fork(after_in_child=_ends.clear)


def _dashed(number: int) -> str:
    text = f"{number:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
