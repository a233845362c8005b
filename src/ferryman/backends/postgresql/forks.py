"""A forked child must not speak on its parent's connections: both would read the answers."""

from __future__ import annotations

import os
from typing import Any, Protocol
from weakref import WeakSet


class Forkable(Protocol):
    def before_fork(self) -> None: ...

    def after_fork(self, *, in_child: bool) -> None: ...


_open: WeakSet[Forkable] = WeakSet()
_forking: list[Forkable] = []
_inherited: list[Any] = []


def watch(owner: Forkable) -> None:
    """Call `before_fork`, then `after_fork` in both processes, as long as the object lives."""
    _open.add(owner)


def leave_alone(connection: Any) -> None:
    """Keep a parent's connection unused: to close it would end the parent's session."""
    _inherited.append(connection)


def _before() -> None:
    for owner in list(_open):
        owner.before_fork()
        _forking.append(owner)


def _after_in_parent() -> None:
    while _forking:
        _forking.pop().after_fork(in_child=False)


def _after_in_child() -> None:
    while _forking:
        _forking.pop().after_fork(in_child=True)


os.register_at_fork(
    before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child
)
