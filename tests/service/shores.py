"""Which stores jobs are moved between."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# A backend joins with its name and how a store of its is called.
URLS = {
    "memory": "memory://",
    "sqlite": "sqlite:///{folder}/{name}.db",
    "file": "file://{folder}/{name}",
}
PAIRS = [(one, other) for one in URLS for other in URLS]
# Whole moves are tested between any two, the cases one by one between neighbours.
NEIGHBOURS = list(zip(URLS, [*list(URLS)[1:], "memory"], strict=True))


def two_urls(kinds: tuple[str, str], folder: Path) -> list[str]:
    names = ("one", "other")
    return [URLS[k].format(folder=folder, name=n) for k, n in zip(kinds, names, strict=True)]
