"""A forked child starts with locks that nobody will release: it gets new ones."""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet


class Forkable(Protocol):
    def after_fork(self) -> None: ...


_open: WeakSet[Forkable] = WeakSet()


def watch(backend: Forkable) -> None:
    """Call `after_fork` in every child, as long as the object lives."""
    _open.add(backend)


def _in_child() -> None:
    for backend in list(_open):
        backend.after_fork()


os.register_at_fork(after_in_child=_in_child)
