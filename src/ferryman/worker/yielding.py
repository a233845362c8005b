"""Handlers that yield: what they say goes to a `Spread`, chunk by chunk, as plain JSON."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from ferryman.message import decode
from ferryman.tasks.aio import offload
from ferryman.tasks.conversion import encode_result

if TYPE_CHECKING:
    from ferryman.tasks.passage import Spread

CHUNK: Final = 100


def is_sync(value: Any) -> bool:
    return isinstance(value, Iterator)


def is_async(value: Any) -> bool:
    return isinstance(value, AsyncIterator)


def drain(items: Iterator[Any], spread: Spread) -> None:
    """Let a generator run to its end."""
    while chunk := [_plain(item) for item in islice(items, CHUNK)]:
        spread.add(chunk)


async def adrain(items: AsyncIterator[Any], spread: Spread) -> None:
    """The same for an async one, without blocking its loop."""
    chunk: list[Any] = []
    async for item in items:
        chunk.append(_plain(item))
        if len(chunk) == CHUNK:
            await offload(spread.add, chunk)
            chunk = []
    await offload(spread.add, chunk)


def _plain(item: Any) -> Any:
    text = encode_result(item)
    return None if text is None else decode(text)
